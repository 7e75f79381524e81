// Before the barrier the condition may be another: other threads write what it reads.
__global__ void racy(int *v, int n) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = v[t];
    if (s[t ^ 1] > n) {
        __syncthreads();
        v[t] = s[0];
    }
    int &r = s[t];
    if (r > n) {
        __syncthreads();
        v[t] = 1;
    }
}
