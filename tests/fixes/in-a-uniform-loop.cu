// Out of the branch, not out of the loop that all threads run alike.
__global__ void tree(float *v) {
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = v[t];
    __syncthreads();
    for (int step = 128; step > 0; step /= 2) {
        if (t < step) {
            s[t] += s[t + step];
            __syncthreads();
        }
    }
    v[t] = s[0];
}
