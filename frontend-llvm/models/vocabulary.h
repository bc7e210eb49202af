// Declarations that CBMC and ESBMC predefine, so that programs for them compile. Included before the user's C code.
// `cprover.c` has the definitions. Functions without a result need no declaration.
#ifndef PROVISO_VOCABULARY
#define PROVISO_VOCABULARY

// Also without predefined macros (-undef).
typedef __typeof__(sizeof(char)) __CPROVER_size_t;
typedef __typeof__((char *)0 - (char *)0) __CPROVER_ssize_t;
typedef _Bool __CPROVER_bool;

#if __STDC_VERSION__ >= 202311L
void __CPROVER_assume(__CPROVER_bool);
void __CPROVER_assert(__CPROVER_bool, const char *);
void __CPROVER_precondition(__CPROVER_bool, const char *);
void __CPROVER_postcondition(__CPROVER_bool, const char *);
void __CPROVER_cover(__CPROVER_bool);
void __CPROVER_input(const char *, ...);
void __CPROVER_output(const char *, ...);
void __CPROVER_printf(const char *, ...);
void __CPROVER_fence(const char *, ...);
void __CPROVER_atomic_begin(void);
void __CPROVER_atomic_end(void);
void __CPROVER_havoc_object(void *);
void __CPROVER_havoc_slice(void *, __CPROVER_size_t);
void __CPROVER_array_copy(const void *, const void *);
void __CPROVER_array_replace(const void *, const void *);
void __ESBMC_assume(__CPROVER_bool);
void __ESBMC_assert(__CPROVER_bool, const char *);
void __ESBMC_atomic_begin(void);
void __ESBMC_atomic_end(void);
#endif

__CPROVER_bool __CPROVER_same_object(const void *, const void *);
__CPROVER_size_t __CPROVER_POINTER_OBJECT(const void *);
__CPROVER_ssize_t __CPROVER_POINTER_OFFSET(const void *);
__CPROVER_size_t __CPROVER_OBJECT_SIZE(const void *);
__CPROVER_bool __CPROVER_DYNAMIC_OBJECT(const void *);
__CPROVER_bool __CPROVER_LIVE_OBJECT(const void *);
__CPROVER_bool __CPROVER_WRITEABLE_OBJECT(const void *);
__CPROVER_bool __CPROVER_array_equal(const void *, const void *);
void *__CPROVER_allocate(__CPROVER_size_t, __CPROVER_bool);
__CPROVER_size_t __ESBMC_POINTER_OBJECT(const void *);
__CPROVER_ssize_t __ESBMC_POINTER_OFFSET(const void *);
__CPROVER_bool __ESBMC_same_object(const void *, const void *);
__CPROVER_size_t __ESBMC_get_object_size(const void *);
__CPROVER_bool __ESBMC_r_ok(const void *, __CPROVER_size_t);
__CPROVER_bool __ESBMC_w_ok(const void *, __CPROVER_size_t);
__CPROVER_bool __ESBMC_rw_ok(const void *, __CPROVER_size_t);

// With one argument: the size of the object that it points to.
__CPROVER_bool __CPROVER_r_ok(const void *, __CPROVER_size_t);
__CPROVER_bool __CPROVER_w_ok(const void *, __CPROVER_size_t);
__CPROVER_bool __CPROVER_rw_ok(const void *, __CPROVER_size_t);
#define PROVISO_OK(function, pointer, size, ...) function(pointer, size)
#define __CPROVER_r_ok(pointer, ...) PROVISO_OK(__CPROVER_r_ok, pointer, ##__VA_ARGS__, sizeof(*(pointer)))
#define __CPROVER_w_ok(pointer, ...) PROVISO_OK(__CPROVER_w_ok, pointer, ##__VA_ARGS__, sizeof(*(pointer)))
#define __CPROVER_rw_ok(pointer, ...) PROVISO_OK(__CPROVER_rw_ok, pointer, ##__VA_ARGS__, sizeof(*(pointer)))

// True if an operation overflows the type of its result, which is that of C.
#define PROVISO_OVERFLOW(builtin, type, a, b)                                                                        \
    __extension__({                                                                                                  \
        type proviso_a = (a), proviso_b = (b), proviso_result;                                                       \
        builtin(proviso_a, proviso_b, &proviso_result);                                                              \
    })
#define __CPROVER_overflow_plus(a, b) PROVISO_OVERFLOW(__builtin_add_overflow, __typeof__((a) + (b)), a, b)
#define __CPROVER_overflow_minus(a, b) PROVISO_OVERFLOW(__builtin_sub_overflow, __typeof__((a) - (b)), a, b)
#define __CPROVER_overflow_mult(a, b) PROVISO_OVERFLOW(__builtin_mul_overflow, __typeof__((a) * (b)), a, b)
#define __CPROVER_overflow_unary_minus(a) PROVISO_OVERFLOW(__builtin_sub_overflow, __typeof__(-(a)), 0, a)
// A shift by a negative amount does not overflow. A shift by at least the width does, unless it shifts zero.
#define __CPROVER_overflow_shl(a, b)                                                                                 \
    __extension__({                                                                                                  \
        __typeof__(+(a)) proviso_a = (a);                                                                            \
        __typeof__(+(b)) proviso_b = (b);                                                                            \
        proviso_b < 0                               ? 0                                                              \
        : proviso_b >= 8 * (int)sizeof(proviso_a)   ? proviso_a != 0                                                 \
                                                    : (__typeof__(proviso_a))((unsigned long long)proviso_a << proviso_b) >> proviso_b != proviso_a; \
    })

// Sets all elements from `array` to the end of its object.
#define __CPROVER_array_set(array, value)                                                                            \
    __extension__({                                                                                                  \
        __typeof__((array)[0] + 0) proviso_value = (value);                                                          \
        __typeof__(&(array)[0]) proviso_array = (array);                                                             \
        __CPROVER_size_t proviso_count =                                                                             \
            (__CPROVER_OBJECT_SIZE(proviso_array) - __CPROVER_POINTER_OFFSET(proviso_array)) / sizeof *proviso_array; \
        for (__CPROVER_size_t proviso_i = 0; proviso_i < proviso_count; proviso_i++)                                 \
            proviso_array[proviso_i] = proviso_value;                                                                \
    })

__CPROVER_bool __CPROVER_isnan(double), __CPROVER_isnanf(float), __CPROVER_isnand(double);
__CPROVER_bool __CPROVER_isfinite(double), __CPROVER_isfinitef(float), __CPROVER_isfinited(double);
__CPROVER_bool __CPROVER_isinf(double), __CPROVER_isinff(float), __CPROVER_isinfd(double);
__CPROVER_bool __CPROVER_isnormal(double), __CPROVER_isnormalf(float), __CPROVER_isnormald(double);
__CPROVER_bool __CPROVER_sign(double), __CPROVER_signf(float), __CPROVER_signd(double);
__CPROVER_bool __CPROVER_isnanld(long double), __CPROVER_isfiniteld(long double), __CPROVER_isinfld(long double);
__CPROVER_bool __CPROVER_isnormalld(long double), __CPROVER_signld(long double);
double __CPROVER_inf(void), __CPROVER_fabs(double);
float __CPROVER_inff(void), __CPROVER_fabsf(float);
long double __CPROVER_infl(void), __CPROVER_fabsl(long double);
int __CPROVER_abs(int);
long __CPROVER_labs(long);
long __CPROVER_llabs(long long);

// Library functions that are called in place of clang's builtins (see compile.rs).
#ifdef PROVISO_CALLED
PROVISO_CALLED
#endif

// Contracts and loop invariants are ignored, as in CBMC by default.
#define __CPROVER_requires(...)
#define __CPROVER_ensures(...)
#define __CPROVER_assigns(...)
#define __CPROVER_frees(...)
#define __CPROVER_requires_contract(...)
#define __CPROVER_ensures_contract(...)
#define __CPROVER_loop_invariant(...)
#define __CPROVER_decreases(...)

#endif
