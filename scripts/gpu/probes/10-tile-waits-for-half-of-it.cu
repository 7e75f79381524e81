// Half of each tile of sixteen waits for the tile, the other half for the block.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void lower_half(int *v) {
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    if (tile.thread_rank() < 8) {
        tile.sync(); // EXPECT: divergent-branch
        v[threadIdx.x] = 1;
    }
    __syncthreads();
    v[64 + threadIdx.x] = v[63 - threadIdx.x];
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    lower_half<<<1, 64>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
