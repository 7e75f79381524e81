// A mark at the beginning, no line end at the last.
__global__ void bom(int *v, int n) {
    if (threadIdx.x < n) {
        v[0] = 1;
        __syncthreads();
    } }