// Three arms and a remark behind the last brace; the barrier takes a group.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void pick(int *v, int n) {
	cg::thread_block block = cg::this_thread_block();
	int t = threadIdx.x;
	if (t < 8) {
		v[t] = 1;
		block.sync();
	} else if (t < n) {
		v[t] = 2;
		block.sync();
	} else {
		block.sync();
	} // who is who
	v[t] += v[t ^ 1];
}
