// Out of two regions, both divergent.
__global__ void deep(int *v, int n) {
    int t = threadIdx.x;
    if (t < n) {
        v[t] = 1;
        if (t > 3) {
            v[t] = 2;
            __syncthreads();
        }
    }
    v[t] += v[t ^ 1];
}
