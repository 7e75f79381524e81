// A named barrier is told to wait for 48 threads, which is no whole number of warps.
__global__ void odd_count(int *v) {
    if (threadIdx.x < 64) {
        asm volatile("bar.sync 1, 48;" ::: "memory"); // EXPECT: any
        v[threadIdx.x] = 1;
    }
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    odd_count<<<1, 128>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
