// A helper returns early for some lanes before its barrier, and the block waits once more after the call.
__device__ __noinline__ void settle(int *v, int n) {
    if (threadIdx.x >= n) return;
    v[threadIdx.x] += 1;
    __syncthreads(); // EXPECT: divergent-exit, divergent-branch
    v[threadIdx.x] += v[n - 1 - threadIdx.x];
}
__global__ void twice(int *v, int n) {
    settle(v, n);
    __syncthreads();
    v[64 + threadIdx.x] = v[63 - threadIdx.x];
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    twice<<<1, 64>>>(v, 40);
    return cudaDeviceSynchronize() != cudaSuccess;
}
