// A named barrier waits for three warps, and only two ever come; the third runs on to the end.
__global__ void too_few(int *v) {
    if (threadIdx.x < 64) {
        asm volatile("bar.sync 1, 96;" ::: "memory"); // EXPECT: any
        v[threadIdx.x] = 1;
    }
    v[threadIdx.x] += 1;
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    too_few<<<1, 96>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
