// Macros of well-known headers that stand outside a tree. They count only where the tree has no definition of its own
// in view, and never as `defined`. Only what shapes control flow, indices, barriers or constants is here.

// What <assert.h> makes of `assert` while NDEBUG is defined, else a word (words.toml): nothing that runs, and yet what
// whoever wrote it takes for true.
#define __assert_under_NDEBUG(...) __builtin_assume(__VA_ARGS__)

// PyTorch (c10, ATen)
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type) \
  for (index_type i = ((index_type)blockIdx.x) * blockDim.x + threadIdx.x; i < (n); i += ((index_type)blockDim.x) * gridDim.x)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
#define CUDA_KERNEL_ASSERT(cond) ((void)0)
#define CUDA_KERNEL_ASSERT_MSG(cond, msg) ((void)0)
#define CUDA_KERNEL_ASSERT_PRINTF(cond, msg, ...) ((void)0)
#define CUDA_KERNEL_ASSERT2(cond) ((void)0)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ((void)0)
#define C10_CUDA_CHECK(expr) ((void)(expr))
#define AT_CUDA_CHECK(expr) ((void)(expr))
#define TORCH_CHECK(cond, ...) ((void)(cond))
#define TORCH_INTERNAL_ASSERT(cond, ...) ((void)(cond))
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_WARP_SIZE 32
#define C10_UNLIKELY(expr) (expr)
#define C10_LIKELY(expr) (expr)
#define WARP_SYNC(...) __syncwarp(__VA_ARGS__)
#define WARP_SHFL(value, lane, ...) __shfl_sync(0xffffffff, value, lane)
#define WARP_SHFL_DOWN(value, delta, ...) __shfl_down_sync(0xffffffff, value, delta)
#define WARP_SHFL_XOR(value, mask, ...) __shfl_xor_sync(0xffffffff, value, mask)
#define WARP_BALLOT(predicate, ...) __ballot_sync(0xffffffff, predicate)

// Caffe, PaddlePaddle, MXNet, TensorFlow
#define CUDA_1D_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)
#define CUDA_1D_KERNEL_LOOP_T(i, n, type) \
  for (type i = (type)(blockIdx.x) * blockDim.x + threadIdx.x; i < (n); i += (type)blockDim.x * gridDim.x)
#define CUDA_2D_KERNEL_LOOP(i, n, j, m) \
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x) \
    for (size_t j = blockIdx.y * blockDim.y + threadIdx.y; j < (m); j += blockDim.y * gridDim.y)
#define GPU_1D_KERNEL_LOOP(i, n) CUDA_1D_KERNEL_LOOP(i, n)

// HIP
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_DYNAMIC_SHARED(type, var) extern __shared__ type var[];
#define HIP_DYNAMIC_SHARED_ATTRIBUTE
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)
#define hipLaunchKernel(kernel, grid, block, shared, stream, ...) kernel<<<grid, block, shared, stream>>>(__VA_ARGS__)

// CUDA C++ Core Libraries: <nv/target>, device side
#define NV_IF_TARGET(condition, ...) NV_SYNCLINT_PICK(condition, __VA_ARGS__)
#define NV_IF_ELSE_TARGET(condition, yes, no) NV_SYNCLINT_PICK(condition, yes, no)
#define NV_SYNCLINT_PICK(condition, ...) NV_SYNCLINT_##condition(__VA_ARGS__)
#define NV_SYNCLINT_NV_IS_DEVICE(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_ANY_TARGET(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_IS_HOST(...) NV_SYNCLINT_SECOND(__VA_ARGS__, ())
#define NV_SYNCLINT_NV_PROVIDES_SM_35(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_37(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_50(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_52(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_53(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_60(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_61(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_62(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_70(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_72(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_75(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_80(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_86(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_87(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_89(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_90(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_PROVIDES_SM_100(...) NV_SYNCLINT_SECOND(__VA_ARGS__, ())
#define NV_SYNCLINT_NV_PROVIDES_SM_101(...) NV_SYNCLINT_SECOND(__VA_ARGS__, ())
#define NV_SYNCLINT_NV_PROVIDES_SM_103(...) NV_SYNCLINT_SECOND(__VA_ARGS__, ())
#define NV_SYNCLINT_NV_PROVIDES_SM_110(...) NV_SYNCLINT_SECOND(__VA_ARGS__, ())
#define NV_SYNCLINT_NV_PROVIDES_SM_120(...) NV_SYNCLINT_SECOND(__VA_ARGS__, ())
#define NV_SYNCLINT_NV_PROVIDES_SM_121(...) NV_SYNCLINT_SECOND(__VA_ARGS__, ())
#define NV_SYNCLINT_NV_IS_EXACTLY_SM_70(...) NV_SYNCLINT_SECOND(__VA_ARGS__, ())
#define NV_SYNCLINT_NV_IS_EXACTLY_SM_75(...) NV_SYNCLINT_SECOND(__VA_ARGS__, ())
#define NV_SYNCLINT_NV_IS_EXACTLY_SM_80(...) NV_SYNCLINT_SECOND(__VA_ARGS__, ())
#define NV_SYNCLINT_NV_IS_EXACTLY_SM_86(...) NV_SYNCLINT_SECOND(__VA_ARGS__, ())
#define NV_SYNCLINT_NV_IS_EXACTLY_SM_90(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_NV_HAS_FEATURE_SM_90a(...) NV_SYNCLINT_FIRST(__VA_ARGS__, )
#define NV_SYNCLINT_FIRST(first, ...) NV_SYNCLINT_STRIP first
#define NV_SYNCLINT_SECOND(first, second, ...) NV_SYNCLINT_STRIP second
#define NV_SYNCLINT_STRIP(...) __VA_ARGS__

// Catch2: what launches kernels in tests
#define SECTION(...) if (true)
#define CATCH_SECTION(...) if (true)
#define DYNAMIC_SECTION(...) if (true)
#define CATCH_DYNAMIC_SECTION(...) if (true)

// The C library
#define FLT_MAX 3.40282347e+38F
#define FLT_MIN 1.17549435e-38F
#define FLT_EPSILON 1.19209290e-7F
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define CHAR_BIT 8
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-9223372036854775807L - 1L)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-9223372036854775807LL - 1LL)
#define ULLONG_MAX 18446744073709551615ULL
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT32_MIN (-2147483647 - 1)
#define INT64_MAX 9223372036854775807L
#define INT64_MIN (-9223372036854775807L - 1L)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615UL
#define SIZE_MAX 18446744073709551615UL
#define M_E 2.7182818284590452354
#define M_LN2 0.69314718055994530942
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define CUDART_PI_F 3.141592654f
