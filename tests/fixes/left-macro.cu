// The barrier comes out of a macro, and so does the branch.
#define WAIT() __syncthreads()
#define LOW(t) if ((t) < 9) {
__global__ void hidden(float *v, int n) {
    int t = threadIdx.x;
    if (t < n) {
        v[t] = 1;
        WAIT();
    }
    LOW(t)
        v[t] = 2;
        __syncthreads();
    }
}
