// What one arm does is before what stands behind the barrier in the other: before the branch, the barrier orders nothing.
__global__ void writes_in_else(int *v, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) {
        __syncthreads();
        v[t] = s[t + 32];
    } else {
        s[t] = 1;
    }
}

__global__ void writes_in_then(int *v, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) {
        s[t] = 1;
    } else {
        __syncthreads();
        v[t] = s[t - n];
    }
}

__global__ void writes_through_a_pointer(int *v, int *w, int n) {
    int t = threadIdx.x;
    int *own = w + t;
    if (t < n) {
        __syncthreads();
        v[t] = w[t + 32];
    } else if (t == n) {
        *own = 1;
    } else {
        if (n > 3) *own = 2;
    }
}

__device__ void put(int *to);

__global__ void calls(int *v, int *w, int n) {
    int t = threadIdx.x;
    if (t < n) {
        __syncthreads();
        v[t] = w[t + 32];
    } else {
        put(w + t);
    }
}

__global__ void reads(int *v, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int sum = 0;
    s[t] = v[t];
    if (t < n) {
        __syncthreads();
        s[t] = 1;
    } else {
        sum = s[t - n];
    }
    __syncthreads();
    v[t] = sum;
}

// Those who skip the branch go on to write what is read in it.
__global__ void writes_behind(int *v, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < n) {
        __syncthreads();
        v[t] = s[t + 32];
    }
    if (t >= n) {
        s[t] = 1;
    }
}

__global__ void behind_a_cast(int *v, int n) {
    __shared__ int s[64];
    int t = threadIdx.x;
    int *own = s + (t ^ 1);
    s[t] = v[t];
    if ((int)*own < n) {
        __syncthreads();
        s[t] = 1;
    }
}
