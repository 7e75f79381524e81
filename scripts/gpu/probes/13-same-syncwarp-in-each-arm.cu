// CLEAN: Both arms of a branch by lanes hold the same warp barrier with the same mask.
__global__ void arms(int *v) {
    if (threadIdx.x < 16) {
        v[threadIdx.x] = 1;
        __syncwarp(0xffffffffu);
        v[64 + threadIdx.x] = v[31 - threadIdx.x];
    } else {
        v[threadIdx.x] = 2;
        __syncwarp(0xffffffffu);
        v[64 + threadIdx.x] = v[31 - threadIdx.x] + 1;
    }
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    arms<<<1, 32>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
