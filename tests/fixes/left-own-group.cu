// The group is known only inside.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void own(int *v, int n) {
    int t = threadIdx.x;
    if (t < n) {
        cg::thread_block block = cg::this_thread_block();
        v[t] = 1;
        block.sync();
    }
    v[t] += v[t ^ 1];
}
