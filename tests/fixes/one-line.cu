// Everything on one line, something behind it.
__global__ void brief(int *v) {
    if (threadIdx.x < 9) { v[0] = 1; __syncthreads(); } v[1] = 2;
}
