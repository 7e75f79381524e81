// Out of a loop it would run once instead of often.
__global__ void turns(float *v, int n) {
    int t = threadIdx.x;
    for (int k = t; k < n; k += 7) {
        v[k] = 1;
        __syncthreads();
    }
    for (int k = 0; k < n; ++k)
        if (t < k) {
            v[k] = 2;
            __syncthreads();
        }
}
