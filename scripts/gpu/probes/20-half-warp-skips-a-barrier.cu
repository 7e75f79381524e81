// Half of each warp skips a barrier of the block, and all meet at the next one.
__global__ void skip(int *v) {
    if (threadIdx.x % 32 < 16) {
        v[threadIdx.x] = 1;
        __syncthreads(); // EXPECT: divergent-branch
        v[64 + threadIdx.x] = v[63 - threadIdx.x];
    }
    __syncthreads();
    v[128 + threadIdx.x] = v[127 - threadIdx.x];
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    skip<<<1, 64>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
