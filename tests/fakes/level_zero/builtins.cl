/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Built-in functions of OpenCL C 1.2 for kernels that the fake driver compiles from SPIR-V,
 * over the C library. Compiled for spir64, so that the names come out as in the kernels,
 * and then turned into host code the same way (spirv.c). Scalars only: what is missing is
 * an undefined symbol when a module is linked, which the build log shows.
 * Declarations: clang's opencl-c.h; semantics: OpenCL C 1.2 specification, section 6.12.
 */

#define OVERLOADED __attribute__((overloadable))

/* --- work-items: the driver fills in the hooks --------------------------------------- */

ulong yoke_fake_item_query(uint what, uint dimension);
void yoke_fake_item_barrier(void);

#define QUERY(name, what)                                                                \
    size_t OVERLOADED name(uint d)                                                       \
    {                                                                                    \
        return yoke_fake_item_query(what, d);                                            \
    }
QUERY(get_global_id, 0)
QUERY(get_local_id, 1)
QUERY(get_group_id, 2)
QUERY(get_global_size, 3)
QUERY(get_local_size, 4)
QUERY(get_num_groups, 5)
QUERY(get_global_offset, 6)
uint OVERLOADED get_work_dim(void)
{
    return 3;
}

void OVERLOADED barrier(cl_mem_fence_flags flags)
{
    yoke_fake_item_barrier();
}
void OVERLOADED mem_fence(cl_mem_fence_flags flags)
{
    __sync_synchronize();
}
void OVERLOADED read_mem_fence(cl_mem_fence_flags flags)
{
    __sync_synchronize();
}
void OVERLOADED write_mem_fence(cl_mem_fence_flags flags)
{
    __sync_synchronize();
}

/* --- math ----------------------------------------------------------------------------- */

#define MATH1(name)                                                                      \
    float name##f(float);                                                                \
    double c_##name(double) __asm__(#name);                                              \
    float OVERLOADED name(float x)                                                       \
    {                                                                                    \
        return name##f(x);                                                               \
    }                                                                                    \
    double OVERLOADED name(double x)                                                     \
    {                                                                                    \
        return c_##name(x);                                                              \
    }
#define MATH2(name)                                                                      \
    float name##f(float, float);                                                         \
    double c_##name(double, double) __asm__(#name);                                      \
    float OVERLOADED name(float x, float y)                                              \
    {                                                                                    \
        return name##f(x, y);                                                            \
    }                                                                                    \
    double OVERLOADED name(double x, double y)                                           \
    {                                                                                    \
        return c_##name(x, y);                                                           \
    }

MATH1(acos) MATH1(acosh) MATH1(asin) MATH1(asinh) MATH1(atan) MATH1(atanh) MATH1(cbrt)
MATH1(ceil) MATH1(cos) MATH1(cosh) MATH1(erf) MATH1(erfc) MATH1(exp) MATH1(exp2)
MATH1(expm1) MATH1(fabs) MATH1(floor) MATH1(log) MATH1(log2) MATH1(log10) MATH1(log1p)
MATH1(logb) MATH1(rint) MATH1(round) MATH1(sin) MATH1(sinh) MATH1(sqrt) MATH1(tan)
MATH1(tanh) MATH1(tgamma) MATH1(lgamma) MATH1(trunc)
MATH2(atan2) MATH2(copysign) MATH2(fdim) MATH2(fmax) MATH2(fmin) MATH2(fmod) MATH2(hypot)
MATH2(nextafter) MATH2(pow) MATH2(remainder)

#define MATH_BOTH(type, c, suffix)                                                       \
    type c##fma##suffix(type, type, type) __asm__("fma" #suffix);                        \
    type c##ldexp##suffix(type, int) __asm__("ldexp" #suffix);                           \
    type OVERLOADED fma(type x, type y, type z)                                          \
    {                                                                                    \
        return c##fma##suffix(x, y, z);                                                  \
    }                                                                                    \
    /* not contracted: a product and a sum, each rounded */                              \
    type OVERLOADED mad(type x, type y, type z)                                          \
    {                                                                                    \
        type product = x * y;                                                            \
        return product + z;                                                              \
    }                                                                                    \
    type OVERLOADED ldexp(type x, int n)                                                 \
    {                                                                                    \
        return c##ldexp##suffix(x, n);                                                   \
    }                                                                                    \
    type OVERLOADED rsqrt(type x)                                                        \
    {                                                                                    \
        return 1 / sqrt(x);                                                              \
    }                                                                                    \
    type OVERLOADED exp10(type x)                                                        \
    {                                                                                    \
        return pow((type)10, x);                                                         \
    }                                                                                    \
    type OVERLOADED pown(type x, int n)                                                  \
    {                                                                                    \
        return pow(x, (type)n);                                                          \
    }                                                                                    \
    type OVERLOADED powr(type x, type y)                                                 \
    {                                                                                    \
        return pow(x, y);                                                                \
    }                                                                                    \
    type OVERLOADED min(type x, type y)                                                  \
    {                                                                                    \
        return y < x ? y : x;                                                            \
    }                                                                                    \
    type OVERLOADED max(type x, type y)                                                  \
    {                                                                                    \
        return x < y ? y : x;                                                            \
    }                                                                                    \
    type OVERLOADED clamp(type x, type low, type high)                                   \
    {                                                                                    \
        return fmin(fmax(x, low), high);                                                 \
    }                                                                                    \
    type OVERLOADED mix(type x, type y, type a)                                          \
    {                                                                                    \
        return x + (y - x) * a;                                                          \
    }                                                                                    \
    type OVERLOADED sign(type x)                                                         \
    {                                                                                    \
        return x != x ? 0 : x > 0 ? 1 : x < 0 ? -1 : x;                                  \
    }                                                                                    \
    int OVERLOADED isnan(type x)                                                         \
    {                                                                                    \
        return x != x;                                                                   \
    }                                                                                    \
    int OVERLOADED isinf(type x)                                                         \
    {                                                                                    \
        return fabs(x) == (type)INFINITY;                                                \
    }                                                                                    \
    int OVERLOADED isfinite(type x)                                                      \
    {                                                                                    \
        return fabs(x) < (type)INFINITY;                                                 \
    }
MATH_BOTH(float, c_, f)
MATH_BOTH(double, c_, )

#define NATIVE1(name)                                                                    \
    float OVERLOADED native_##name(float x)                                              \
    {                                                                                    \
        return name(x);                                                                  \
    }                                                                                    \
    float OVERLOADED half_##name(float x)                                                \
    {                                                                                    \
        return name(x);                                                                  \
    }
NATIVE1(cos) NATIVE1(exp) NATIVE1(exp2) NATIVE1(log) NATIVE1(log2) NATIVE1(rsqrt)
NATIVE1(sin) NATIVE1(sqrt) NATIVE1(tan)
float OVERLOADED native_recip(float x)
{
    return 1 / x;
}
float OVERLOADED native_divide(float x, float y)
{
    return x / y;
}
float OVERLOADED native_powr(float x, float y)
{
    return pow(x, y);
}

/* --- integers ------------------------------------------------------------------------- */

#define INTEGER(type, utype)                                                             \
    type OVERLOADED min(type x, type y)                                                  \
    {                                                                                    \
        return y < x ? y : x;                                                            \
    }                                                                                    \
    type OVERLOADED max(type x, type y)                                                  \
    {                                                                                    \
        return x < y ? y : x;                                                            \
    }                                                                                    \
    type OVERLOADED clamp(type x, type low, type high)                                   \
    {                                                                                    \
        return min(max(x, low), high);                                                   \
    }                                                                                    \
    type OVERLOADED rotate(type x, type n)                                               \
    {                                                                                    \
        uint bits = sizeof(type) * 8, by = (uint)n & (bits - 1);                         \
        return by == 0 ? x : (type)((utype)x << by | (utype)x >> (bits - by));           \
    }                                                                                    \
    type OVERLOADED popcount(type x)                                                     \
    {                                                                                    \
        type count = 0;                                                                  \
        for (utype left = (utype)x; left != 0; left &= left - 1)                         \
            count++;                                                                     \
        return count;                                                                    \
    }                                                                                    \
    type OVERLOADED clz(type x)                                                          \
    {                                                                                    \
        type count = sizeof(type) * 8;                                                   \
        for (utype left = (utype)x; left != 0; left >>= 1)                               \
            count--;                                                                     \
        return count;                                                                    \
    }                                                                                    \
    utype OVERLOADED abs(type x)                                                         \
    {                                                                                    \
        return x < 0 ? (utype)0 - (utype)x : (utype)x;                                   \
    }
INTEGER(char, uchar)
INTEGER(uchar, uchar)
INTEGER(short, ushort)
INTEGER(ushort, ushort)
INTEGER(int, uint)
INTEGER(uint, uint)
INTEGER(long, ulong)
INTEGER(ulong, ulong)

int OVERLOADED mul_hi(int x, int y)
{
    return (int)((long)x * y >> 32);
}
uint OVERLOADED mul_hi(uint x, uint y)
{
    return (uint)((ulong)x * y >> 32);
}
int OVERLOADED mul24(int x, int y)
{
    return x * y;
}
uint OVERLOADED mul24(uint x, uint y)
{
    return x * y;
}
int OVERLOADED mad24(int x, int y, int z)
{
    return x * y + z;
}
uint OVERLOADED mad24(uint x, uint y, uint z)
{
    return x * y + z;
}

/* --- saturating conversions from float and between integers ---------------------------- */

#define SATURATE_ONE(to, low, high, from, mode, round)                                   \
    to OVERLOADED convert_##to##_sat##mode(from x)                                       \
    {                                                                                    \
        double y = round((double)x);                                                     \
        return y != y ? 0 : y <= low ? (to)low : y >= high ? (to)high : (to)y;           \
    }
#define SATURATE(to, low, high)                                                          \
    SATURATE_ONE(to, low, high, float, , trunc)                                          \
    SATURATE_ONE(to, low, high, float, _rte, rint)                                       \
    SATURATE_ONE(to, low, high, float, _rtz, trunc)                                      \
    SATURATE_ONE(to, low, high, int, , trunc)
SATURATE(char, CHAR_MIN, CHAR_MAX)
SATURATE(uchar, 0, UCHAR_MAX)
SATURATE(short, SHRT_MIN, SHRT_MAX)
SATURATE(ushort, 0, USHRT_MAX)
SATURATE(int, INT_MIN, INT_MAX)
SATURATE(uint, 0, UINT_MAX)

/* --- atomics --------------------------------------------------------------------------- */

#define ATOMIC_LOOP(type, space, name, wanted)                                           \
    type OVERLOADED name(volatile space type *p, type value)                             \
    {                                                                                    \
        type old = *p;                                                                   \
        for (;;) {                                                                       \
            type seen = __sync_val_compare_and_swap(p, old, wanted);                     \
            if (seen == old)                                                             \
                return old;                                                              \
            old = seen;                                                                  \
        }                                                                                \
    }
#define ATOMIC(type, space)                                                              \
    ATOMIC_LOOP(type, space, atomic_add, old + value)                                    \
    ATOMIC_LOOP(type, space, atomic_sub, old - value)                                    \
    ATOMIC_LOOP(type, space, atomic_xchg, value)                                         \
    ATOMIC_LOOP(type, space, atomic_min, (value < old ? value : old))                    \
    ATOMIC_LOOP(type, space, atomic_max, (old < value ? value : old))                    \
    ATOMIC_LOOP(type, space, atomic_and, old &value)                                     \
    ATOMIC_LOOP(type, space, atomic_or, old | value)                                     \
    ATOMIC_LOOP(type, space, atomic_xor, old ^ value)                                    \
    type OVERLOADED atomic_inc(volatile space type *p)                                   \
    {                                                                                    \
        return atomic_add(p, (type)1);                                                   \
    }                                                                                    \
    type OVERLOADED atomic_dec(volatile space type *p)                                   \
    {                                                                                    \
        return atomic_sub(p, (type)1);                                                   \
    }                                                                                    \
    type OVERLOADED atomic_cmpxchg(volatile space type *p, type expected, type desired)  \
    {                                                                                    \
        return __sync_val_compare_and_swap(p, expected, desired);                        \
    }
ATOMIC(int, __global)
ATOMIC(uint, __global)
ATOMIC(int, __local)
ATOMIC(uint, __local)

/* --- conversions of vectors: the compiler makes vectors of scalar code ---------------- */

#define VECTOR_CONVERT(to, from, width)                                                  \
    to##width OVERLOADED convert_##to##width(from##width x)                              \
    {                                                                                    \
        return __builtin_convertvector(x, to##width);                                    \
    }
#define VECTOR_WIDTHS(to, from)                                                          \
    VECTOR_CONVERT(to, from, 2)                                                          \
    VECTOR_CONVERT(to, from, 4)                                                          \
    VECTOR_CONVERT(to, from, 8)                                                          \
    VECTOR_CONVERT(to, from, 16)
#define VECTOR_ALL(to)                                                                   \
    VECTOR_WIDTHS(to, char)                                                              \
    VECTOR_WIDTHS(to, uchar)                                                             \
    VECTOR_WIDTHS(to, short)                                                             \
    VECTOR_WIDTHS(to, ushort)                                                            \
    VECTOR_WIDTHS(to, int)                                                               \
    VECTOR_WIDTHS(to, uint)                                                              \
    VECTOR_WIDTHS(to, long)                                                              \
    VECTOR_WIDTHS(to, ulong)                                                             \
    VECTOR_WIDTHS(to, float)
VECTOR_ALL(char)
VECTOR_ALL(uchar)
VECTOR_ALL(short)
VECTOR_ALL(ushort)
VECTOR_ALL(int)
VECTOR_ALL(uint)
VECTOR_ALL(long)
VECTOR_ALL(ulong)
VECTOR_ALL(float)
