// A warp barrier at the end of what half the lanes do.
__global__ void half(int *v) {
    __shared__ int s[32];
    int lane = threadIdx.x % 32;
    if (lane < 16) {
        s[lane] = v[lane];
        __syncwarp();
    }
    v[lane] = s[lane % 16];
}
