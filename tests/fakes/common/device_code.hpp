/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands before every source that a fake run-time compiler gets: the parts of CUDA C++
 * and HIP C++ that kernels of tests use, as C++17 for the host. Built-in variables and
 * functions by NVIDIA's CUDA C++ Programming Guide ("C++ Language Extensions") and the HIP
 * kernel language page of ROCm's documentation. Nothing is included, as NVRTC includes
 * nothing by itself.
 *
 * The threads of a block are run one after the other, on fibers: one that comes to
 * __syncthreads() is put aside until all others have come there or ended.
 */
typedef __SIZE_TYPE__ size_t;

struct uint3 {
    unsigned x, y, z;
};
struct dim3 {
    unsigned x, y, z;
};
struct float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) uint2 {
    unsigned x, y;
};

extern "C" {
__attribute__((visibility("hidden"))) uint3 threadIdx, blockIdx;
__attribute__((visibility("hidden"))) dim3 blockDim, gridDim;
alignas(256) char fake_dynamic_shared[256 * 1024];
__attribute__((visibility("hidden"))) void fake_switch(void **save, void *to);
}

/* ---- qualifiers: __global__ and __shared__ are left for the scanner ------------------ */
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#ifdef FAKE_HIP
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define hipThreadIdx_x threadIdx.x
#define hipBlockIdx_x blockIdx.x
#define hipBlockDim_x blockDim.x
#define hipGridDim_x gridDim.x
static const int warpSize = 64;
#else
static const int warpSize = 32;
#endif

/* ---- functions ----------------------------------------------------------------------- */
extern "C" {
float expf(float); float exp2f(float); float logf(float); float log2f(float);
float log10f(float); float log1pf(float); float expm1f(float); float sqrtf(float);
float tanhf(float); float erff(float); float erfcf(float); float fabsf(float);
float floorf(float); float ceilf(float); float truncf(float); float roundf(float);
float rintf(float); float sinf(float); float cosf(float); float tanf(float);
float powf(float, float); float fmaf(float, float, float); float fmaxf(float, float);
float fminf(float, float); float fmodf(float, float); float ldexpf(float, int);
float copysignf(float, float); float cbrtf(float); float atanf(float);
double exp(double); double log(double); double sqrt(double); double tanh(double);
double erf(double); double fabs(double); double floor(double); double ceil(double);
double sin(double); double cos(double); double pow(double, double);
double fma(double, double, double); double fmax(double, double);
double fmin(double, double); double trunc(double); double rint(double);
void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t);
}
#define FAKE_INLINE_FUNCTION static inline __attribute__((unused))
FAKE_INLINE_FUNCTION float exp(float x) { return expf(x); }
FAKE_INLINE_FUNCTION float log(float x) { return logf(x); }
FAKE_INLINE_FUNCTION float sqrt(float x) { return sqrtf(x); }
FAKE_INLINE_FUNCTION float tanh(float x) { return tanhf(x); }
FAKE_INLINE_FUNCTION float erf(float x) { return erff(x); }
FAKE_INLINE_FUNCTION float fabs(float x) { return fabsf(x); }
FAKE_INLINE_FUNCTION float floor(float x) { return floorf(x); }
FAKE_INLINE_FUNCTION float ceil(float x) { return ceilf(x); }
FAKE_INLINE_FUNCTION float sin(float x) { return sinf(x); }
FAKE_INLINE_FUNCTION float cos(float x) { return cosf(x); }
FAKE_INLINE_FUNCTION float pow(float x, float y) { return powf(x, y); }
FAKE_INLINE_FUNCTION float fma(float x, float y, float z) { return fmaf(x, y, z); }
FAKE_INLINE_FUNCTION float rsqrtf(float x) { return 1.0f / sqrtf(x); }
FAKE_INLINE_FUNCTION double rsqrt(double x) { return 1.0 / sqrt(x); }
FAKE_INLINE_FUNCTION float __expf(float x) { return expf(x); }
FAKE_INLINE_FUNCTION float __logf(float x) { return logf(x); }
FAKE_INLINE_FUNCTION float __fdividef(float x, float y) { return x / y; }
FAKE_INLINE_FUNCTION float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
/* Never contracted, by the CUDA Math API; volatile keeps the two apart here. */
FAKE_INLINE_FUNCTION float __fmul_rn(float x, float y) { volatile float r = x * y; return r; }
FAKE_INLINE_FUNCTION float __fadd_rn(float x, float y) { volatile float r = x + y; return r; }
FAKE_INLINE_FUNCTION float __fsub_rn(float x, float y) { volatile float r = x - y; return r; }
FAKE_INLINE_FUNCTION float __fdiv_rn(float x, float y) { volatile float r = x / y; return r; }
FAKE_INLINE_FUNCTION float __fsqrt_rn(float x) { volatile float r = sqrtf(x); return r; }
FAKE_INLINE_FUNCTION double __dmul_rn(double x, double y) { volatile double r = x * y; return r; }
FAKE_INLINE_FUNCTION double __dadd_rn(double x, double y) { volatile double r = x + y; return r; }
template <class To, class From> static inline To fake_bits(From value)
{
    static_assert(sizeof(To) == sizeof(From), "");
    To result;
    __builtin_memcpy(&result, &value, sizeof result);
    return result;
}
FAKE_INLINE_FUNCTION unsigned __float_as_uint(float x) { return fake_bits<unsigned>(x); }
FAKE_INLINE_FUNCTION int __float_as_int(float x) { return fake_bits<int>(x); }
FAKE_INLINE_FUNCTION float __uint_as_float(unsigned x) { return fake_bits<float>(x); }
FAKE_INLINE_FUNCTION float __int_as_float(int x) { return fake_bits<float>(x); }
FAKE_INLINE_FUNCTION long long __double_as_longlong(double x) { return fake_bits<long long>(x); }
FAKE_INLINE_FUNCTION double __longlong_as_double(long long x) { return fake_bits<double>(x); }
FAKE_INLINE_FUNCTION int __popc(unsigned x) { return __builtin_popcount(x); }
FAKE_INLINE_FUNCTION int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
FAKE_INLINE_FUNCTION int __ffs(int x) { return __builtin_ffs(x); }
FAKE_INLINE_FUNCTION unsigned __umulhi(unsigned x, unsigned y)
{
    return (unsigned)(((unsigned long long)x * y) >> 32);
}
template <class T> static inline T min(T a, T b) { return b < a ? b : a; }
template <class T> static inline T max(T a, T b) { return a < b ? b : a; }
FAKE_INLINE_FUNCTION int abs(int x) { return x < 0 ? -x : x; }
FAKE_INLINE_FUNCTION void __threadfence() {}
FAKE_INLINE_FUNCTION void __threadfence_block() {}
FAKE_INLINE_FUNCTION void __threadfence_system() {}
template <class T> static inline T __ldg(const T *p) { return *p; }

/* ---- atomics: the type of the pointer rules, as in the overloads of the guide --------- */
template <class T> struct fake_same { typedef T type; };
#define FAKE_ATOMIC(name, expression)                                                        \
    template <class T> static inline T name(T *p, typename fake_same<T>::type v)             \
    {                                                                                        \
        T old = *p;                                                                          \
        *p = (expression);                                                                   \
        return old;                                                                          \
    }
FAKE_ATOMIC(atomicAdd, (T)(old + v))
FAKE_ATOMIC(atomicSub, (T)(old - v))
FAKE_ATOMIC(atomicMax, old < v ? v : old)
FAKE_ATOMIC(atomicMin, v < old ? v : old)
FAKE_ATOMIC(atomicAnd, (T)(old & v))
FAKE_ATOMIC(atomicOr, (T)(old | v))
FAKE_ATOMIC(atomicXor, (T)(old ^ v))
FAKE_ATOMIC(atomicExch, v)
template <class T>
static inline T atomicCAS(T *p, typename fake_same<T>::type compare,
                          typename fake_same<T>::type v)
{
    T old = *p;
    if (old == compare)
        *p = v;
    return old;
}

/* ---- fibers --------------------------------------------------------------------------- */
struct fake_launch {
    unsigned grid[3], block[3];
    size_t shared;
    void *(*stack)(unsigned index, size_t *size); /* the same for the same index */
};
struct fake_fiber {
    void *stack_pointer;
    unsigned thread;
    bool done;
};
struct fake_entry {
    const char *name;
    unsigned count;
    const unsigned short *sizes, *alignments;
    const unsigned char *pointers;
    void (*body)(void **arguments);
};

static fake_fiber fake_fibers[1024];
static fake_fiber *fake_current;
static void *fake_scheduler;
static void (*fake_body)(void **);
static void **fake_arguments;

#if defined __x86_64__
asm(".text\n.globl fake_switch\n.hidden fake_switch\n.type fake_switch,@function\n"
    "fake_switch:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp,(%rdi)\nmovq %rsi,%rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n"
    ".size fake_switch,.-fake_switch\n");
enum { FAKE_SAVED = 6 };
#elif defined __aarch64__
asm(".text\n.globl fake_switch\n.hidden fake_switch\n.type fake_switch,%function\n"
    "fake_switch:\n"
    "sub sp,sp,#160\n"
    "stp x30,x29,[sp]\nstp x19,x20,[sp,#16]\nstp x21,x22,[sp,#32]\nstp x23,x24,[sp,#48]\n"
    "stp x25,x26,[sp,#64]\nstp x27,x28,[sp,#80]\nstp d8,d9,[sp,#96]\nstp d10,d11,[sp,#112]\n"
    "stp d12,d13,[sp,#128]\nstp d14,d15,[sp,#144]\n"
    "mov x9,sp\nstr x9,[x0]\nmov sp,x1\n"
    "ldp x30,x29,[sp]\nldp x19,x20,[sp,#16]\nldp x21,x22,[sp,#32]\nldp x23,x24,[sp,#48]\n"
    "ldp x25,x26,[sp,#64]\nldp x27,x28,[sp,#80]\nldp d8,d9,[sp,#96]\nldp d10,d11,[sp,#112]\n"
    "ldp d12,d13,[sp,#128]\nldp d14,d15,[sp,#144]\nadd sp,sp,#160\nret\n"
    ".size fake_switch,.-fake_switch\n");
#else
#error "the fakes' kernels need fake_switch for this processor"
#endif

static void fake_yield()
{
    fake_switch(&fake_current->stack_pointer, fake_scheduler);
}
FAKE_INLINE_FUNCTION void __syncthreads() { fake_yield(); }

static void fake_fiber_main()
{
    for (;;) {
        fake_body(fake_arguments);
        fake_current->done = true;
        fake_yield();
    }
}

static void fake_fiber_make(fake_fiber *fiber, void *stack, size_t size)
{
    void **top = (void **)((char *)stack + size) - 32;
#if defined __x86_64__
    top = (void **)((size_t)top & ~(size_t)15);
    *--top = 0; /* so that the stack is as after a call */
    *--top = (void *)fake_fiber_main;
    for (int i = 0; i < FAKE_SAVED; i++)
        *--top = 0;
#else
    top = (void **)((size_t)top & ~(size_t)15) - 20;
    for (int i = 0; i < 20; i++)
        top[i] = 0;
    top[0] = (void *)fake_fiber_main;
#endif
    fiber->stack_pointer = top;
}

/* Runs on until the fiber's thread ends or comes to a barrier; true: it ended. */
static bool fake_resume(fake_fiber *fiber)
{
    unsigned t = fiber->thread;
    threadIdx.x = t % blockDim.x;
    threadIdx.y = t / blockDim.x % blockDim.y;
    threadIdx.z = t / blockDim.x / blockDim.y;
    fiber->done = false;
    fake_current = fiber;
    fake_switch(&fake_scheduler, fiber->stack_pointer);
    return fiber->done;
}

static void fake_block(const fake_launch *launch, unsigned threads)
{
    static fake_fiber *waiting[1024];
    static unsigned made;
    static fake_fiber *idle[1024];
    static unsigned idle_count;
    unsigned wait_count = 0;
    /* Not memset(): a sanitizer would see that one call alone of all that a kernel does. */
    for (size_t i = 0; i < launch->shared; i += sizeof(size_t))
        *(volatile size_t *)(fake_dynamic_shared + i) = (size_t)0xcdcdcdcdcdcdcdcdull;
    for (unsigned t = 0; t < threads; t++) {
        if (idle_count == 0) {
            size_t size;
            void *stack = launch->stack(made, &size);
            fake_fiber_make(&fake_fibers[made], stack, size);
            idle[idle_count++] = &fake_fibers[made++];
        }
        fake_fiber *fiber = idle[--idle_count];
        fiber->thread = t;
        if (fake_resume(fiber))
            idle[idle_count++] = fiber;
        else
            waiting[wait_count++] = fiber;
    }
    while (wait_count > 0) {
        unsigned left = 0;
        for (unsigned i = 0; i < wait_count; i++) {
            fake_fiber *fiber = waiting[i];
            if (fake_resume(fiber))
                idle[idle_count++] = fiber;
            else
                waiting[left++] = fiber;
        }
        wait_count = left;
    }
}

extern "C" void fake_run(const fake_launch *launch, const fake_entry *entry, void **arguments)
{
    fake_body = entry->body;
    fake_arguments = arguments;
    gridDim = {launch->grid[0], launch->grid[1], launch->grid[2]};
    blockDim = {launch->block[0], launch->block[1], launch->block[2]};
    for (unsigned z = 0; z < gridDim.z; z++)
        for (unsigned y = 0; y < gridDim.y; y++)
            for (unsigned x = 0; x < gridDim.x; x++) {
                blockIdx = {x, y, z};
                fake_block(launch, blockDim.x * blockDim.y * blockDim.z);
            }
}

/* ---- from void ** to parameters -------------------------------------------------------- */
template <class T> struct fake_is_pointer { static const unsigned char value = 0; };
template <class T> struct fake_is_pointer<T *> { static const unsigned char value = 1; };
template <unsigned... I> struct fake_indices {};
template <unsigned N, unsigned... I> struct fake_count : fake_count<N - 1, N - 1, I...> {};
template <unsigned... I> struct fake_count<0, I...> { typedef fake_indices<I...> type; };
template <class F, F f> struct fake_kernel;
template <class... A, void (*f)(A...)> struct fake_kernel<void (*)(A...), f> {
    static const unsigned short sizes[sizeof...(A) + 1], alignments[sizeof...(A) + 1];
    static const unsigned char pointers[sizeof...(A) + 1];
    template <unsigned... I> static void call(void **a, fake_indices<I...>)
    {
        (void)a;
        f(*(A *)a[I]...);
    }
    static void body(void **a) { call(a, typename fake_count<sizeof...(A)>::type()); }
    static constexpr fake_entry entry(const char *name)
    {
        return {name, sizeof...(A), sizes, alignments, pointers, body};
    }
};
template <class... A, void (*f)(A...)>
const unsigned short fake_kernel<void (*)(A...), f>::sizes[] = {sizeof(A)..., 0};
template <class... A, void (*f)(A...)>
const unsigned short fake_kernel<void (*)(A...), f>::alignments[] = {alignof(A)..., 0};
template <class... A, void (*f)(A...)>
const unsigned char fake_kernel<void (*)(A...), f>::pointers[] = {fake_is_pointer<A>::value...,
                                                                  0};
