// The other arm touches nothing that others see: the barrier may stand before the branch.
__global__ void own_variables(int *v, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int sum = 0;
    s[t] = v[t];
    if (t < n) {
        __syncthreads();
        sum = s[t + 1];
    } else if (t == n) {
        sum = n * 2;
    } else {
        for (int k = 0; k < 3; k++) {
            if (k == t) sum += k;
        }
    }
    __syncthreads();
    v[t] = sum;
}

// The other arm's work is done before what follows either way.
__global__ void at_the_end(int *v, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = v[t];
        __syncthreads();
    } else {
        s[t] = 0;
    }
    v[t] = s[63 - t];
}

// What a kernel is handed is not in the memory of its block.
__global__ void elsewhere(int *v, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int sum = 0;
    s[t] = v[t];
    if (t < n) {
        __syncthreads();
        sum = s[t + 1];
    } else {
        v[t] = 0;
    }
    v[t] += sum;
}
