// Each half of the block has a barrier in a branch of its own; both are moved, so they stay a pair.
__global__ void halves(float *v, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = v[t];
        __syncthreads();
    }
    float own = v[t + 256];
    if (t >= n) {
        s[t] = own;
        __syncthreads();
    }
    v[t] = s[t ^ 1];
}
