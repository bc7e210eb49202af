// Defines: calloc realloc reallocarray aligned_alloc memalign posix_memalign valloc pvalloc malloc_usable_size
#pragma once
#include "proviso.h"

// Memory functions besides `malloc` and `free`. An allocation fails if its size exceeds PTRDIFF_MAX bytes, or at any
// time if the user enables failing allocations.

static _Bool proviso_too_large(size_t size) {
    if (size <= PTRDIFF_MAX)
        return 0;
    SET_ERRNO(ENOMEM);
    return 1;
}

// The product, or a size that is too large if it overflows.
static size_t proviso_product(size_t count, size_t size) {
    size_t total;
    return __builtin_mul_overflow(count, size, &total) ? SIZE_MAX : total;
}

void *calloc(size_t count, size_t size) {
    // Returns the product itself, so that the analyses know its factors.
    return proviso_too_large(proviso_product(count, size)) ? NULL : __proviso_alloc_zeroed(count * size);
}

static void *proviso_realloc(void *ptr, size_t size) {
    if (!ptr)
        return malloc(size);
    if (size == 0) {
        free(ptr);
        return NULL;
    }
    // Even if the reallocation fails, the pointer must be null or come from a function of the family of `malloc`.
    size_t old = __proviso_malloc_size(ptr);
    if (proviso_too_large(size))
        return NULL;
    void *new = malloc(size);
    if (!new)
        return NULL;
    __builtin_memcpy(new, ptr, old < size ? old : size);
    free(ptr);
    return new;
}

void *realloc(void *ptr, size_t size) { return proviso_realloc(ptr, size); }

void *reallocarray(void *ptr, size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        SET_ERRNO(ENOMEM);
        return NULL;
    }
    // The product itself, so that the analyses know its factors.
    return proviso_realloc(ptr, count * size);
}

// The alignment of an object must be a constant, so that it is known not to exceed the request. `align` is rounded up
// to a power of two.
static void *proviso_aligned(size_t align, size_t size) {
    if (proviso_too_large(size))
        return NULL;
#define PROVISO_ALIGNED(power)                                                                                       \
    if (align <= (power))                                                                                            \
        return __proviso_alloc_aligned(power, size);
    PROVISO_ALIGNED(16)
    PROVISO_ALIGNED(32)
    PROVISO_ALIGNED(64)
    PROVISO_ALIGNED(128)
    PROVISO_ALIGNED(256)
    PROVISO_ALIGNED(512)
    PROVISO_ALIGNED(1024)
    PROVISO_ALIGNED(2048)
    PROVISO_ALIGNED(4096)
    PROVISO_ALIGNED(65536)
    // For proofs about places, the alignment is a multiple of 65536, too.
    __proviso_unmodelled("an alignment of more than 65536 is not modelled");
    return __proviso_alloc_aligned(65536, size);
}

static void *proviso_memalign(size_t align, size_t size) {
    if (align > SIZE_MAX / 2 + 1) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    return proviso_aligned(align, size);
}

void *aligned_alloc(size_t align, size_t size) { return proviso_memalign(align, size); }

void *memalign(size_t align, size_t size) { return proviso_memalign(align, size); }

int posix_memalign(void **ptr, size_t align, size_t size) {
    if (align % sizeof(void *) != 0 || align == 0 || (align & (align - 1)) != 0)
        return EINVAL;
    void *new = proviso_aligned(align, size);
    if (!new)
        return ENOMEM;
    *ptr = new;
    return 0;
}

void *valloc(size_t size) { return proviso_aligned(4096, size); }

void *pvalloc(size_t size) { return proviso_aligned(4096, size > PTRDIFF_MAX ? size : (size + 4095) & ~(size_t)4095); }

// The real object may be larger, but a program that uses the excess writes outside the object.
size_t malloc_usable_size(void *ptr) {
    if (!ptr)
        return 0;
    size_t asked = __proviso_malloc_size(ptr);
    __proviso_overapproximated("malloc_usable_size");
    size_t size = __proviso_env_size();
    __proviso_assume((size >= asked) & (size <= PTRDIFF_MAX));
    return size;
}
