// Two barriers become one, and what is said of them does not fit it.
__global__ void fold(float *v, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = v[t];
        __syncthreads();  // the values
    } else {
        s[t] = 0;
        __syncthreads();  // the rest of it
    }
    v[t] = s[t ^ 1];
}
