// Each warp makes its own number of turns, and the block waits in each and once more at the end.
__global__ void turns(int *v) {
    for (int i = 0; i < threadIdx.x / 32 + 1; ++i) {
        v[threadIdx.x] += i;
        __syncthreads(); // EXPECT: divergent-loop
    }
    __syncthreads();
    v[128 + threadIdx.x] = v[127 - threadIdx.x];
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    turns<<<1, 128>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
