// Something is done behind the barrier and before it: neither end nor beginning.
__global__ void between(float *v, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = v[t];
        __syncthreads();
        v[t] = s[t ^ 1];
    }
}
