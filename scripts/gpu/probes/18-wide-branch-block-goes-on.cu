// One whole warp skips a barrier that the others wait at; all meet at the next one.
__global__ void skip(int *v) {
    if (threadIdx.x >= 32) {
        v[threadIdx.x] = 1;
        __syncthreads(); // EXPECT: divergent-branch
    }
    v[128 + threadIdx.x] = v[95 - threadIdx.x];
    __syncthreads();
    v[256 + threadIdx.x] = v[128 + threadIdx.x];
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    skip<<<1, 96>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
