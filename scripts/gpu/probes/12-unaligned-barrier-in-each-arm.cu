// CLEAN: The unaligned form matches by number: one in each arm of a branch by warps.
__global__ void arms(int *v) {
    if (threadIdx.x < 32) {
        v[threadIdx.x] = 1;
        asm volatile("barrier.sync 0;" ::: "memory");
    } else {
        v[threadIdx.x] = 2;
        asm volatile("barrier.sync 0;" ::: "memory");
    }
    v[64 + threadIdx.x] = v[63 - threadIdx.x];
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    arms<<<1, 64>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
