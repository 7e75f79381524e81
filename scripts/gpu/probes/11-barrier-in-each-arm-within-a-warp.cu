// The two halves of each warp wait for the block at different places.
__global__ void arms(int *v) {
    if (threadIdx.x % 32 < 16) {
        v[threadIdx.x] = 1;
        __syncthreads(); // EXPECT: divergent-branch
        v[64 + threadIdx.x] = v[63 - threadIdx.x];
    } else {
        v[threadIdx.x] = 2;
        __syncthreads(); // EXPECT: divergent-branch
        v[64 + threadIdx.x] = 2 * v[63 - threadIdx.x];
    }
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    arms<<<1, 64>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
