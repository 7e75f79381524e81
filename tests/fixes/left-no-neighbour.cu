// Behind these branches is no place of their own.
__global__ void alone(int *v, int n) {
    int t = threadIdx.x;
    if (n > 3)
        if (t < n) {
            v[t] = 1;
            __syncthreads();
        }
    if (t < 4)
        __syncthreads();
    else
        v[t] = 2;
}
