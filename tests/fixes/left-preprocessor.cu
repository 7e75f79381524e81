// Only in one configuration is it there.
__global__ void maybe(float *v, int n) {
    int t = threadIdx.x;
    if (t < n) {
        v[t] = 1;
#ifndef FAST
        __syncthreads();
#endif
    }
    v[t] = 2;
}
