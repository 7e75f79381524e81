// The producer arrives for a barrier of 64, the consumer waits with 96, and no third warp comes.
__global__ void roles(int *v) {
    if (threadIdx.x < 32) {
        v[threadIdx.x] = 1;
        asm volatile("bar.arrive 2, 96;" ::: "memory"); // ALT: any
    } else {
        asm volatile("bar.sync 2, 96;" ::: "memory"); // EXPECT: any
        v[threadIdx.x] = v[threadIdx.x - 32];
    }
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    roles<<<1, 64>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
