// Defines: mmap mmap64 munmap mprotect msync madvise posix_madvise mlock munlock mlockall munlockall mremap
#pragma once
#include "descriptors.c"

// sys/mman.h. A mapping is an object of whole pages. It is not part of the heap.

#define PROVISO_MAP_FAILED ((void *)-1)

static void *proviso_map_failed(int error) {
    SET_ERRNO(error);
    return PROVISO_MAP_FAILED;
}

static size_t proviso_pages(size_t size) { return (size + 4095) & ~(size_t)4095; }

// Access permissions are not modelled.
static void proviso_protect(int protection) {
    if ((protection & 3) != 3)
        __proviso_underapproximated("the protection of memory against reads or writes is not modelled");
}

// New memory is zero. The environment determines the content of files. It fails like `malloc`; for a file it may fail for any reason.
static void *proviso_map(void *at, size_t size, int protection, int flags, int file) {
    enum { MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_FIXED = 0x10, MAP_ANONYMOUS = 0x20 };
    if (size == 0 || (flags & (MAP_SHARED | MAP_PRIVATE)) == 0)
        return proviso_map_failed(EINVAL);
    if (size > SIZE_MAX - 4095 || (sizeof size == 8 && size > PTRDIFF_MAX - 4095))
        return proviso_map_failed(ENOMEM);
    if (size > PTRDIFF_MAX - 4095)
        __proviso_unmodelled("so much memory is not modelled");
    if (flags & MAP_FIXED)
        __proviso_unmodelled("mapping memory at a given address is not modelled");
    if (flags & MAP_SHARED)
        __proviso_underapproximated("writes of other processes to shared memory are not modelled");
    proviso_protect(protection);
    size_t whole = proviso_pages(size);
    if (flags & MAP_ANONYMOUS) {
        void *fresh = __proviso_alloc_mapping(whole);
        return fresh ? fresh : proviso_map_failed(ENOMEM);
    }
    // Exhausted memory is one of the errors.
    _Bool closed = proviso_is_closed(file), fails = __proviso_env_bool();
    __proviso_assume(fails | !closed);
    if (fails)
        return proviso_map_failed(proviso_descriptor_error(closed));
    char *memory = __proviso_make_mapping(whole);
    __proviso_env_memory(memory, whole);
    return memory;
}

void *mmap(void *at, size_t size, int protection, int flags, int file, long from) {
    return proviso_map(at, size, protection, flags, file);
}

void *mmap64(void *at, size_t size, int protection, int flags, int file, long long from) {
    return proviso_map(at, size, protection, flags, file);
}

// Unmaps memory. Only the whole mapping of one call of `mmap` is modelled.
int munmap(void *start, size_t size) {
    if (size == 0 || ((uintptr_t)start & 4095)) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    if (__proviso_object_offset(start) != 0 || __proviso_object_size(start) != proviso_pages(size)) {
        __proviso_unmodelled("unmapping other memory than a call has mapped is not modelled");
        return 0;
    }
    __proviso_free_mapping(start);
    return 0;
}

static int proviso_memory_outcome(void) {
    int result = proviso_env_between(-1, 0);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

int mprotect(void *start, size_t size, int protection) {
    proviso_protect(protection);
    return proviso_memory_outcome();
}

int msync(void *start, size_t size, int flags) { return proviso_memory_outcome(); }
int mlock(const void *start, size_t size) { return proviso_memory_outcome(); }
int munlock(const void *start, size_t size) { return proviso_memory_outcome(); }
int mlockall(int flags) { return proviso_memory_outcome(); }
int munlockall(void) { return proviso_memory_outcome(); }

// Memory that is not needed may become zero.
static void proviso_advise(int advice) {
    if (advice == 4 || advice == 8 || advice == 9)
        __proviso_unmodelled("the release of memory by madvise is not modelled");
}

int madvise(void *start, size_t size, int advice) {
    proviso_advise(advice);
    return proviso_memory_outcome();
}

int posix_madvise(void *start, size_t size, int advice) { return proviso_env_between(0, 133); }

void *mremap(void *start, size_t size, size_t new_size, int flags, ...) {
    __proviso_unmodelled("mremap is not modelled");
    return PROVISO_MAP_FAILED;
}
