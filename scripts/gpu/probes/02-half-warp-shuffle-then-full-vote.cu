// Half a warp shuffles with the full mask, and later the whole warp votes.
__global__ void mixed(int *v) {
    int x = threadIdx.x;
    if (threadIdx.x < 16) {
        x = __shfl_sync(0xffffffffu, x, 20); // EXPECT: warp-mask
    }
    v[threadIdx.x] = x + __any_sync(0xffffffffu, x > 3);
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    mixed<<<1, 32>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
