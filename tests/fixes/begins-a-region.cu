// The barrier comes before all that the region does, and only the thread itself knows its condition.
__global__ void store(float *v, int n) {
    __shared__ float s[256];
    unsigned t = threadIdx.x;
    s[t] = v[t];
    if (t + 1 < (unsigned)n && t % 2 == 0) {
        __syncthreads();
        v[t] = s[t + 1];
    }
}
