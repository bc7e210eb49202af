// Defines: __CPROVER_r_ok __CPROVER_w_ok __CPROVER_rw_ok __CPROVER_same_object __CPROVER_POINTER_OBJECT
// Defines: __CPROVER_POINTER_OFFSET __CPROVER_OBJECT_SIZE __CPROVER_DYNAMIC_OBJECT __CPROVER_LIVE_OBJECT
// Defines: __CPROVER_WRITEABLE_OBJECT __CPROVER_allocate __CPROVER_havoc_object __CPROVER_havoc_slice
// Defines: __CPROVER_array_copy __CPROVER_array_replace __CPROVER_array_equal
// Defines: __ESBMC_POINTER_OBJECT __ESBMC_POINTER_OFFSET __ESBMC_same_object __ESBMC_get_object_size
// Defines: __ESBMC_r_ok __ESBMC_w_ok __ESBMC_rw_ok
// Defines: __CPROVER_isnan __CPROVER_isnanf __CPROVER_isnand __CPROVER_isnanld
// Defines: __CPROVER_isfinite __CPROVER_isfinitef __CPROVER_isfinited __CPROVER_isfiniteld
// Defines: __CPROVER_isinf __CPROVER_isinff __CPROVER_isinfd __CPROVER_isinfld
// Defines: __CPROVER_isnormal __CPROVER_isnormalf __CPROVER_isnormald __CPROVER_isnormalld
// Defines: __CPROVER_sign __CPROVER_signf __CPROVER_signd __CPROVER_signld
// Defines: __CPROVER_inf __CPROVER_inff __CPROVER_infl __CPROVER_fabs __CPROVER_fabsf __CPROVER_fabsl
// Defines: __CPROVER_abs __CPROVER_labs __CPROVER_llabs
#pragma once
#include "proviso.h"

// The built-in functions of CBMC and ESBMC, as their manuals define them. For an invalid pointer the manuals do not
// define the result, so it is arbitrary.

#define PROVISO_NOWHERE SIZE_MAX

static _Bool proviso_accessible(const void *p, size_t size) {
    size_t offset = __proviso_object_offset((void *)p);
    return offset != PROVISO_NOWHERE && size <= __proviso_object_size((char *)p - offset) - offset;
}

_Bool __CPROVER_r_ok(const void *p, size_t size) { return proviso_accessible(p, size); }

_Bool __CPROVER_w_ok(const void *p, size_t size) { return proviso_accessible(p, size); }

_Bool __CPROVER_rw_ok(const void *p, size_t size) { return proviso_accessible(p, size); }

_Bool __ESBMC_r_ok(const void *p, size_t size) { return proviso_accessible(p, size); }

_Bool __ESBMC_w_ok(const void *p, size_t size) { return proviso_accessible(p, size); }

_Bool __ESBMC_rw_ok(const void *p, size_t size) { return proviso_accessible(p, size); }

// An address identifies a live object.
static size_t proviso_object(const void *p) {
    size_t offset = __proviso_object_offset((void *)p);
    if (offset != PROVISO_NOWHERE)
        return (size_t)p - offset;
    if (!p)
        return 0;
    __proviso_overapproximated("the object of a pointer outside all objects is unknown");
    return __proviso_env_size();
}

static ssize_t proviso_offset(const void *p) {
    size_t offset = __proviso_object_offset((void *)p);
    if (offset != PROVISO_NOWHERE)
        return offset;
    if (!p)
        return 0;
    __proviso_overapproximated("the offset of a pointer outside all objects is unknown");
    return __proviso_env_size();
}

static size_t proviso_size(const void *p) {
    size_t offset = __proviso_object_offset((void *)p);
    if (offset != PROVISO_NOWHERE)
        return __proviso_object_size((char *)p - offset);
    if (!p)
        return 0;
    __proviso_overapproximated("the size of the object of a pointer outside all objects is unknown");
    return __proviso_env_size();
}

size_t __CPROVER_POINTER_OBJECT(const void *p) { return proviso_object(p); }

size_t __ESBMC_POINTER_OBJECT(const void *p) { return proviso_object(p); }

_Bool __CPROVER_same_object(const void *p, const void *q) { return proviso_object(p) == proviso_object(q); }

_Bool __ESBMC_same_object(const void *p, const void *q) { return proviso_object(p) == proviso_object(q); }

ssize_t __CPROVER_POINTER_OFFSET(const void *p) { return proviso_offset(p); }

ssize_t __ESBMC_POINTER_OFFSET(const void *p) { return proviso_offset(p); }

size_t __CPROVER_OBJECT_SIZE(const void *p) { return proviso_size(p); }

size_t __ESBMC_get_object_size(const void *p) { return proviso_size(p); }

_Bool __CPROVER_LIVE_OBJECT(const void *p) { return __proviso_object_offset((void *)p) != PROVISO_NOWHERE; }

_Bool __CPROVER_WRITEABLE_OBJECT(const void *p) { return __proviso_object_offset((void *)p) != PROVISO_NOWHERE; }

_Bool __CPROVER_DYNAMIC_OBJECT(const void *p) {
    if (!p)
        return 0;
    __proviso_overapproximated("__CPROVER_DYNAMIC_OBJECT");
    return __proviso_env_bool();
}

void *__CPROVER_allocate(size_t size, _Bool zeroed) {
    // The caller handles failing allocations.
    return zeroed ? __proviso_make_zeroed(size) : __proviso_make_malloc(size);
}

// New memory has arbitrary content.
static void proviso_forget(void *p, size_t size) {
    void *any = __proviso_scratch(size);
    __builtin_memcpy(p, any, size);
    __proviso_drop(any);
}

void __CPROVER_havoc_slice(void *p, size_t size) { proviso_forget(p, size); }

void __CPROVER_havoc_object(void *p) {
    size_t offset = __proviso_object_offset(p);
    char *start = offset == PROVISO_NOWHERE ? p : (char *)p - offset;
    proviso_forget(start, __proviso_object_size(start));
}

// Copies from the two pointers to the ends of their objects. Bytes without a counterpart in the source become arbitrary.
void __CPROVER_array_copy(const void *to, const void *from) {
    size_t wanted = proviso_size(to) - proviso_offset(to), given = proviso_size(from) - proviso_offset(from);
    __builtin_memmove((void *)to, from, given < wanted ? given : wanted);
    if (given < wanted)
        proviso_forget((char *)to + given, wanted - given);
}

void __CPROVER_array_replace(const void *to, const void *from) {
    size_t wanted = proviso_size(to) - proviso_offset(to), given = proviso_size(from) - proviso_offset(from);
    __builtin_memmove((void *)to, from, given < wanted ? given : wanted);
}

_Bool __CPROVER_array_equal(const void *a, const void *b) {
    size_t size = proviso_size(a) - proviso_offset(a);
    if (proviso_size(b) - proviso_offset(b) != size)
        return 0;
    for (size_t i = 0; i < size; i++)
        if (((const char *)a)[i] != ((const char *)b)[i])
            return 0;
    return 1;
}

// Floating-point numbers.

#define PROVISO_CLASS(function, builtin, type)                                                                       \
    _Bool function(type x) { return builtin(x) != 0; }

PROVISO_CLASS(__CPROVER_isnan, __builtin_isnan, double)
PROVISO_CLASS(__CPROVER_isnand, __builtin_isnan, double)
PROVISO_CLASS(__CPROVER_isnanf, __builtin_isnan, float)
PROVISO_CLASS(__CPROVER_isnanld, __builtin_isnan, long double)
PROVISO_CLASS(__CPROVER_isfinite, __builtin_isfinite, double)
PROVISO_CLASS(__CPROVER_isfinited, __builtin_isfinite, double)
PROVISO_CLASS(__CPROVER_isfinitef, __builtin_isfinite, float)
PROVISO_CLASS(__CPROVER_isfiniteld, __builtin_isfinite, long double)
PROVISO_CLASS(__CPROVER_isinf, __builtin_isinf, double)
PROVISO_CLASS(__CPROVER_isinfd, __builtin_isinf, double)
PROVISO_CLASS(__CPROVER_isinff, __builtin_isinf, float)
PROVISO_CLASS(__CPROVER_isinfld, __builtin_isinf, long double)
PROVISO_CLASS(__CPROVER_isnormal, __builtin_isnormal, double)
PROVISO_CLASS(__CPROVER_isnormald, __builtin_isnormal, double)
PROVISO_CLASS(__CPROVER_isnormalf, __builtin_isnormal, float)
PROVISO_CLASS(__CPROVER_isnormalld, __builtin_isnormal, long double)
PROVISO_CLASS(__CPROVER_sign, __builtin_signbit, double)
PROVISO_CLASS(__CPROVER_signd, __builtin_signbit, double)
PROVISO_CLASS(__CPROVER_signf, __builtin_signbit, float)
PROVISO_CLASS(__CPROVER_signld, __builtin_signbit, long double)

double __CPROVER_inf(void) { return __builtin_inf(); }

float __CPROVER_inff(void) { return __builtin_inff(); }

long double __CPROVER_infl(void) { return __builtin_infl(); }

double __CPROVER_fabs(double x) { return __builtin_fabs(x); }

float __CPROVER_fabsf(float x) { return __builtin_fabsf(x); }

long double __CPROVER_fabsl(long double x) { return __builtin_fabsl(x); }

int __CPROVER_abs(int x) { return x < 0 ? -(unsigned)x : x; }

long __CPROVER_labs(long x) { return x < 0 ? -(unsigned long)x : x; }

long __CPROVER_llabs(long long x) { return x < 0 ? -(unsigned long long)x : x; }
