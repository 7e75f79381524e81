//! What is put round a barrier, on its own line: control flow that parts the block, and control flow that does not.
//! `B` stands for the barrier statement, `N` for a parameter of the function that nobody writes.

pub struct Kind {
    pub name: &'static str,
    pub text: &'static str,
    /// The threads of a block part.
    pub divides: bool,
}

const fn divides(name: &'static str, text: &'static str) -> Kind {
    Kind { name, text, divides: true }
}

const fn keeps(name: &'static str, text: &'static str) -> Kind {
    Kind { name, text, divides: false }
}

/// Lines put in front of the file.
pub const PRELUDE: &str = "\
#define SYNCLINT_WHEN(condition, ...) if (condition) { __VA_ARGS__ }
struct SynclintPair { int a; int b; };
static __device__ __forceinline__ bool synclint_odd(int value) { return value & 1; }
static __device__ __forceinline__ int synclint_step(int value) { if (value < 4) return 1; return 2; }
static __device__ __forceinline__ void synclint_put(int *to, int value) { *to = value + 1; }
static __device__ __forceinline__ void synclint_set(int &to, int value) { to = value + 1; }
static __device__ __forceinline__ void synclint_wait() { __syncthreads(); }
static __device__ __forceinline__ int synclint_wait_if(bool go) { if (go) __syncthreads(); return 1; }
static __device__ __forceinline__ int synclint_wait_unless(bool stay) { if (stay) return 0; __syncthreads(); return 1; }
template <typename F> static __device__ __forceinline__ void synclint_call(F run) { run(); }
";

pub const KINDS: &[Kind] = &[
    divides("branch on the thread index", "if (threadIdx.x < 7) { B }"),
    divides("else of a thread branch", "if (threadIdx.x == 3) { } else { B }"),
    divides("branch on the lane", "if ((threadIdx.x & 31) < 9) { B }"),
    divides("branch on the warp", "if (threadIdx.x / 32 == 0) { B }"),
    divides("branch on the global index", "if (blockIdx.x * blockDim.x + threadIdx.x < 1009) { B }"),
    divides("branch inside a uniform branch", "if (gridDim.x > 0) { if (threadIdx.x > 4) { B } }"),
    divides("derived variable", "int t_ = threadIdx.x * 2 + 1; int u_ = t_ % 5; if (u_ == 1) { B }"),
    divides("flag set in a branch", "bool f_ = false; if (threadIdx.x == 2) f_ = true; if (f_) { B }"),
    divides("flag by a conditional", "int f_ = threadIdx.x > 5 ? 1 : 0; if (f_) { B }"),
    divides("field of a struct", "SynclintPair s_; s_.a = blockIdx.x; s_.b = threadIdx.x; if (s_.b == 4) { B }"),
    divides("field of a copy", "SynclintPair s_ = {0, (int)threadIdx.x}; SynclintPair c_ = s_; if (c_.b == 4) { B }"),
    divides("local array", "int a_[2] = {0, (int)threadIdx.x}; if (a_[1] == 2) { B }"),
    divides("through a pointer", "int v_ = 0; int *p_ = &v_; *p_ = threadIdx.x; if (v_ == 2) { B }"),
    divides("through a reference", "int v_ = 0; int &r_ = v_; r_ = threadIdx.x; if (v_ == 2) { B }"),
    divides("result of a helper", "if (synclint_odd(threadIdx.x)) { B }"),
    divides("result of a branching helper", "if (synclint_step(threadIdx.x) == 1) { B }"),
    divides("out-parameter by pointer", "int o_ = 0; synclint_put(&o_, threadIdx.x); if (o_ > 3) { B }"),
    divides("out-parameter by reference", "int o_ = 0; synclint_set(o_, threadIdx.x); if (o_ > 3) { B }"),
    divides("result of a lambda", "auto f_ = [&](int v) { return v > 2; }; if (f_(threadIdx.x)) { B }"),
    divides("lambda with the barrier", "auto f_ = [&]() { B }; if (threadIdx.x == 1) f_();"),
    divides("barrier guarded in a lambda", "auto f_ = [&](int v) { if (v > 2) { B } }; f_(threadIdx.x);"),
    divides("lambda passed on", "if (threadIdx.x == 1) synclint_call([&]() { B });"),
    divides("macro", "SYNCLINT_WHEN(threadIdx.x != 6, B)"),
    divides("atomic", "__shared__ int c_; if (atomicAdd(&c_, 1) == 2) { B }"),
    divides("clock", "if (clock() & 1) { B }"),
    divides("shuffle", "if (__shfl_xor_sync(0xffffffffu, (int)threadIdx.x, 1) == 4) { B }"),
    divides("vote of the warp", "if (__any_sync(0xffffffffu, threadIdx.x == 40)) { B }"),
    divides("and", "bool z_ = threadIdx.x > 8 && (__syncthreads(), true); (void)z_;"),
    divides("or", "bool z_ = threadIdx.x > 8 || (__syncthreads(), true); (void)z_;"),
    divides("conditional operator", "threadIdx.x > 8 ? __syncthreads() : (void)0;"),
    divides("compound condition", "if (gridDim.x > 0 && (threadIdx.x > 8 || blockIdx.x == 70000)) { B }"),
    divides("return", "if (threadIdx.x == 5) return; B"),
    divides("return in a branch", "if (gridDim.x > 0) { if (threadIdx.x >= 9) { return; } } B"),
    divides("loop with own trip count", "for (int i_ = 0; i_ < (int)threadIdx.x % 3; i_++) { B }"),
    divides("strided loop", "for (int i_ = threadIdx.x; i_ < 1009; i_ += blockDim.x) { B }"),
    divides("while", "int w_ = threadIdx.x & 3; while (w_-- > 0) { B }"),
    divides("do while", "int w_ = threadIdx.x & 3; do { B } while (w_-- > 0);"),
    divides("continue", "for (int i_ = 0; i_ < 2; i_++) { if (threadIdx.x == 9) continue; B }"),
    divides("break before", "for (int i_ = 0; i_ < 2; i_++) { if (threadIdx.x % 3 == i_) break; B }"),
    divides("break after", "for (int i_ = 0; i_ < 2; i_++) { B if (threadIdx.x % 3 == i_) break; }"),
    divides("goto", "if (threadIdx.x == 5) goto synclint_skip; B synclint_skip: ;"),
    divides("goto backwards", "int i_ = 0; synclint_again: B if (i_++ < (int)(threadIdx.x & 1)) goto synclint_again;"),
    divides("switch", "switch (threadIdx.x & 3) { case 1: B break; default: break; }"),
    divides("racy broadcast", "__shared__ int r_; if (threadIdx.x == 0) r_ = clock(); if (r_ & 1) { B }"),
    divides(
        "own shared element",
        "__shared__ int e_[1024]; e_[threadIdx.x] = threadIdx.x % 3; __syncthreads(); if (e_[threadIdx.x] == 1) { B }",
    ),
    divides("call under a branch", "if (threadIdx.x < 6) synclint_wait();"),
    divides("guarded in a helper", "synclint_wait_if(threadIdx.x < 6);"),
    divides("helper returns before", "synclint_wait_unless(threadIdx.x < 6);"),
    divides("counter of own trips", "int n_ = 0; for (int i_ = threadIdx.x; i_ < 77; i_ += 9) n_++; if (n_ > 3) { B }"),
    keeps("parameter", "if (N > 3) { B }"),
    keeps("loop over a parameter", "for (int i_ = 0; i_ < (int)N; i_++) { B }"),
    keeps("block index", "if (blockIdx.x < 3) { B }"),
    keeps("else of a block branch", "if (blockIdx.x == 3) { } else { B }"),
    keeps("grid extent", "if (gridDim.x > 2) { B }"),
    keeps("block extent", "if (blockDim.x > 64) { B }"),
    keeps("constant", "const int k_ = 3; if (k_ > 2) { B }"),
    keeps("sizeof", "if (sizeof(int) == 4) { B }"),
    keeps("derived variable of the block", "int t_ = blockIdx.x * 2 + 1; int u_ = t_ % 5; if (u_ == 1) { B }"),
    keeps("flag set in a block branch", "bool f_ = false; if (blockIdx.x == 2) f_ = true; if (f_) { B }"),
    keeps("uniform field of a struct", "SynclintPair s_; s_.a = blockIdx.x; s_.b = threadIdx.x; if (s_.a == 4) { B }"),
    keeps("uniform element", "int a_[2] = {1, (int)threadIdx.x}; if (a_[0] == 1) { B }"),
    keeps("uniform through a pointer", "int v_ = 0; int *p_ = &v_; *p_ = blockIdx.x; if (v_ == 2) { B }"),
    keeps("result of a helper of the block", "if (synclint_odd(blockIdx.x)) { B }"),
    keeps("result of a branching helper of the block", "if (synclint_step(blockIdx.x) == 1) { B }"),
    keeps("out-parameter of the block", "int o_ = 0; synclint_put(&o_, blockIdx.x); if (o_ > 3) { B }"),
    keeps("result of a lambda of the block", "auto f_ = [&](int v) { return v > 2; }; if (f_(blockIdx.x)) { B }"),
    keeps("lambda with the barrier, by block", "auto f_ = [&]() { B }; if (blockIdx.x == 1) f_();"),
    keeps("macro by block", "SYNCLINT_WHEN(blockIdx.x != 6, B)"),
    keeps("vote of the block", "if (__syncthreads_or(threadIdx.x > 30)) { B }"),
    keeps("count of the block", "int c_ = __syncthreads_count(threadIdx.x & 1); if (c_ > 5) { B }"),
    keeps("and by block", "bool z_ = blockIdx.x > 8 && (__syncthreads(), true); (void)z_;"),
    keeps("return by block", "if (blockIdx.x == 70000) return; B"),
    keeps("counted loop", "for (int i_ = 0; i_ < 3; i_++) { B }"),
    keeps("loop over the grid's extent", "for (int i_ = blockIdx.x; i_ < 100; i_ += gridDim.x) { B }"),
    keeps("while by block", "int w_ = blockIdx.x & 3; while (w_-- > 0) { B }"),
    keeps("endless with break", "int w_ = 0; while (true) { B if (++w_ > (int)(blockIdx.x & 1)) break; }"),
    keeps("do once", "do { B } while (0);"),
    keeps("do while a vote", "int w_ = threadIdx.x & 3; do { B w_--; } while (__syncthreads_or(w_ > 0));"),
    keeps("continue by block", "for (int i_ = 0; i_ < 2; i_++) { if (blockIdx.x == 9) continue; B }"),
    keeps("break by block", "for (int i_ = 0; i_ < 2; i_++) { if (blockIdx.x % 3 == i_) break; B }"),
    keeps("goto by block", "if (blockIdx.x == 5) goto synclint_skip; B synclint_skip: ;"),
    keeps("switch by block", "switch (blockIdx.x & 3) { case 1: B break; default: break; }"),
    keeps(
        "broadcast",
        "__shared__ int r_; __syncthreads(); if (threadIdx.x == 0) r_ = clock(); __syncthreads(); int v_ = r_; __syncthreads(); if (v_ & 1) { B }",
    ),
    keeps(
        "thread index cancels",
        "int id_ = blockIdx.x * blockDim.x + threadIdx.x; if (id_ - (int)threadIdx.x < 4096) { B }",
    ),
    keeps("below the block's extent", "if (threadIdx.x < blockDim.x) { B }"),
    keeps("after a thread branch", "int j_ = 0; if (threadIdx.x == 3) { j_ = 1; } B (void)j_;"),
    keeps("after a ragged loop", "int j_ = 0; for (int i_ = threadIdx.x; i_ < 77; i_ += 9) j_++; B (void)j_;"),
    keeps(
        "loop from a common start",
        "for (int i_ = 0; i_ < 1009; i_ += blockDim.x) { int j_ = i_ + threadIdx.x; (void)j_; B }",
    ),
    keeps("guarded in a helper, by block", "synclint_wait_if(blockIdx.x < 6);"),
    keeps("helper returns before, by block", "synclint_wait_unless(blockIdx.x < 6);"),
];
