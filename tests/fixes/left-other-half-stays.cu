// The threads that run past the first branch have a barrier of their own, which cannot be moved.
__global__ void halves(float *v, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = v[t];
        __syncthreads();
    }
    if (t >= n) {
        s[t] = 0;
        __syncthreads();
        v[t] = s[0];
    }
}
