// One block of the cluster ends, and the other waits for the cluster.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) leave(int *v) {
    cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 1) return;
    cluster.sync(); // EXPECT: divergent-exit
    v[threadIdx.x] = 1;
}

int main() {
    int *v;
    cudaMalloc(&v, 1 << 16);
    cudaMemset(v, 0, 1 << 16);
    leave<<<2, 32>>>(v);
    return cudaDeviceSynchronize() != cudaSuccess;
}
