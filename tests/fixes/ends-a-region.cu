// The barrier is the last thing in the guarded region.
__global__ void load(float *v, const float *in, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    if (t < n) {
        /* what there is */
        s[t] = in[t];
        __syncthreads();
    }
    v[t] = s[t ^ 1];
}
