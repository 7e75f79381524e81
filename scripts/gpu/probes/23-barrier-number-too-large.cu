// CLEAN as far as the source says: the number of the barrier comes in a register and is 17; a block has 16.
__global__ void high(int *v, int id) {
    asm volatile("barrier.sync %0;" ::"r"(id) : "memory");
    v[threadIdx.x] = id;
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    high<<<1, 64>>>(v, 17);
    return cudaDeviceSynchronize() != cudaSuccess;
}
