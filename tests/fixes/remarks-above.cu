// What is said of the barrier goes with it.
__global__ void scale(float *v, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = v[t];
        // The neighbour's value
        /* is read below,
           so wait. */
        __syncthreads();  // all of s is there
    }
    v[t] = s[t ^ 1];
}
