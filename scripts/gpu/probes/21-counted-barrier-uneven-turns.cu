// CLEAN by the rules, though it hangs: two warps meet at a barrier of 64 in a loop, and the second makes one more turn than the first.
__global__ void turns(int *v) {
    for (int i = 0; i < 2 + threadIdx.x / 32; ++i) {
        v[threadIdx.x] += i;
        asm volatile("bar.sync 3, 64;" ::: "memory"); // ALT: divergent-loop
    }
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    turns<<<1, 64>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
