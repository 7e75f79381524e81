// One warp votes at a barrier of the block while the other waits at a plain one.
__global__ void mixed(int *v) {
    if (threadIdx.x < 32) {
        v[threadIdx.x] = __syncthreads_count(threadIdx.x > 3); // EXPECT: divergent-branch
    } else {
        __syncthreads(); // EXPECT: divergent-branch
        v[threadIdx.x] = 2;
    }
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    mixed<<<1, 64>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
