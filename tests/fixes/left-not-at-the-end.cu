// In one arm the barrier is not the last thing.
__global__ void uneven(float *v, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = v[t];
        __syncthreads();
        v[t] = s[0];
    } else {
        s[t] = 0;
    }
}
