// One block ends, and the others wait for the grid.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void leave(int *v) {
    cg::grid_group grid = cg::this_grid();
    if (blockIdx.x == 1) return;
    grid.sync(); // EXPECT: divergent-exit
    v[threadIdx.x] = 1;
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    void *arguments[] = {&v};
    cudaLaunchCooperativeKernel((void *)leave, dim3(2), dim3(32), arguments);
    return cudaDeviceSynchronize() != cudaSuccess;
}
