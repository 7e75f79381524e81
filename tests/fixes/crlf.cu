// Lines end as on Windows.
__global__ void crlf(int *v, int n) {
	int t = threadIdx.x;
	if (t < n) {
		v[t] = 1;
		__syncthreads(); // "ä"
	}
	v[t] += v[t ^ 1];
}
