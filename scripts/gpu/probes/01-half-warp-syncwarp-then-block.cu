// Half a warp waits for the whole warp, the other half for the block: who waits for whom?
__global__ void crossed(int *v) {
    if (threadIdx.x % 32 < 16) {
        __syncwarp(); // EXPECT: warp-mask
        v[threadIdx.x] = 1;
    }
    __syncthreads();
    v[64 + threadIdx.x] = v[63 - threadIdx.x];
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    crossed<<<1, 64>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
