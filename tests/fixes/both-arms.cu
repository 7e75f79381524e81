// The same barrier ends both arms.
__global__ void fold(float *v, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = v[t];

        __syncthreads();  // all of s is there
    } else {
        s[t] = 0;
        __syncthreads();
    }
    v[t] = s[t ^ 1];
}
