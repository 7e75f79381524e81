// Behind the branch it is as divergent as in it: some threads have left.
__global__ void gone(float *v, int n) {
    int t = threadIdx.x;
    if (t > n) return;
    if (t < 9) {
        v[t] = 1;
        __syncthreads();
    }
}
