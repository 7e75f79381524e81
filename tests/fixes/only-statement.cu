// The guard guards nothing else.
__global__ void wait(int *v) {
    v[threadIdx.x] = 1;
    if (threadIdx.x < 16) __syncthreads();
    if (threadIdx.x < 16) {
        __syncthreads();
    }
    v[threadIdx.x] += v[threadIdx.x ^ 1];
}
