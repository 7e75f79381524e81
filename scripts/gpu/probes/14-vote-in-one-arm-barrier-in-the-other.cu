// One half of the warp votes with the full mask, the other waits at a warp barrier with it.
__global__ void arms(int *v) {
    if (threadIdx.x < 16) {
        v[threadIdx.x] = __any_sync(0xffffffffu, threadIdx.x > 3); // EXPECT: warp-mask
    } else {
        __syncwarp(0xffffffffu); // EXPECT: warp-mask
        v[threadIdx.x] = 2;
    }
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    arms<<<1, 32>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
