// At the end of the region something else is done, behind the barrier.
struct Bump {
    int *at;
    __device__ ~Bump() { *at += 1; }
};
__global__ void bump(int *v, int n) {
    int t = threadIdx.x;
    if (t < n) {
        Bump bump{v + t};
        __syncthreads();
    }
    v[t] += v[t ^ 1];
}
