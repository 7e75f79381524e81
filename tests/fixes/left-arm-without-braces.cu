// An arm without braces cannot be emptied, nor may what the other arms do be lost.
__global__ void chained(int *v) {
    if (blockIdx.x > 3) {
        v[0] = 1;
    } else if (threadIdx.x < 3)
        __syncthreads();
}

__global__ void last(int *v) {
    if (threadIdx.x < 3) {
        v[0] = 1;
        __syncthreads();
    } else
        __syncthreads();
}

__global__ void first(int *v) {
    if (threadIdx.x < 3)
        __syncthreads();
    else {
        v[0] = 1;
        __syncthreads();
    }
}

__global__ void other(int *v) {
    if (threadIdx.x < 3) {
        v[0] = 1;
        __syncthreads();
    } else
        v[1] = 2;
}
