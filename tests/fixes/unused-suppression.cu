__global__ void fine(int *v) {
    __syncthreads();  // synclint: ignore[divergent-branch] it was not always so
    v[threadIdx.x] = 1;
}
