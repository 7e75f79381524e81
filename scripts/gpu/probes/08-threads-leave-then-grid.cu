// Threads of one warp end, and thread 0 of the block still speaks for it at the grid's barrier.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void leave(int *v, int n) {
    cg::grid_group grid = cg::this_grid();
    if (threadIdx.x >= n) return;
    grid.sync(); // EXPECT: divergent-exit
    v[threadIdx.x] = 1;
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    int n = 20;
    void *arguments[] = {&v, &n};
    cudaLaunchCooperativeKernel((void *)leave, dim3(2), dim3(64), arguments);
    return cudaDeviceSynchronize() != cudaSuccess;
}
