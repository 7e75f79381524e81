// CLEAN as far as the source says: the count comes in a register and is no multiple of 32, so that the assembler cannot see it.
__global__ void odd_count(int *v, int n) {
    if (threadIdx.x < 64) {
        asm volatile("bar.sync 1, %0;" ::"r"(n) : "memory");
        v[threadIdx.x] = 1;
    }
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    odd_count<<<1, 128>>>(v, 48);
    return cudaDeviceSynchronize() != cudaSuccess;
}
