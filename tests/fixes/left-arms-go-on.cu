// Two barriers in each arm, which hardware pairs: with one of three left behind the branch, the arms would be out of step.
__global__ void paired(float *m, int p) {
    if (threadIdx.y == p) {
        m[0] = 1;
        __syncthreads();
        m[1] = 2;
        __syncthreads();
    } else {
        __syncthreads();
        m[2] = 3;
        __syncthreads();
        m[3] = 4;
    }
    m[4] = 5;
}
