// What both arms end with stays one for all wherever it stands; the barrier behind is moved for its own sake.
__global__ void folded(float *v, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = v[t];
        __syncthreads();
    } else {
        s[t] = 0;
        __syncthreads();
    }
    float sum = s[t ^ 1];
    if (t >= n) {
        sum += s[t ^ 2];
        __syncthreads();
    }
    v[t] = sum;
}
