// Two roles name the same barrier with different counts.
__global__ void disagree(int *v) {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory"); // EXPECT: any
    } else {
        asm volatile("bar.sync 1, 96;" ::: "memory"); // EXPECT: any
    }
    v[threadIdx.x] += 1;
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    disagree<<<1, 64>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
