// Lanes end by the instruction exit in a helper, then the rest of the block waits.
__device__ void stop(bool now) {
    if (now) asm volatile("exit;");
}
__global__ void rest(int *v) {
    stop(threadIdx.x % 32 >= 20);
    __syncthreads(); // EXPECT: divergent-exit
    v[threadIdx.x] = 1;
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    rest<<<1, 64>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
