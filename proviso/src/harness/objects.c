/* AddressSanitizer knows the valid memory and the object of each pointer. Without it, the harness does not know them. */
extern void *__asan_region_is_poisoned(void *, size_t) __attribute__((weak));
extern const char *__asan_locate_address(void *, char *, size_t, void **, size_t *) __attribute__((weak));

static void proviso_object(void *p, char **start, size_t *size) {
    char name[1];
    void *found = p;
    *size = 0;
    if (p && !__asan_locate_address) {
        fputs("proviso: compile with -fsanitize=address to see objects\n", stderr);
        exit(2);
    }
    if (p)
        __asan_locate_address(p, name, sizeof name, &found, size);
    *start = found;
}

#define PROVISO_OK(name) \
    __attribute__((weak)) int name(void *p, size_t size) { \
        return p && !(__asan_region_is_poisoned && __asan_region_is_poisoned(p, size)); \
    }
PROVISO_OK(__CPROVER_r_ok)
PROVISO_OK(__CPROVER_w_ok)
PROVISO_OK(__CPROVER_rw_ok)
PROVISO_OK(__ESBMC_r_ok)
PROVISO_OK(__ESBMC_w_ok)
PROVISO_OK(__ESBMC_rw_ok)

#define PROVISO_OBJECTS(object, offset, size_of, same) \
    __attribute__((weak)) size_t object(void *p) { \
        char *start; \
        size_t size; \
        proviso_object(p, &start, &size); \
        return (size_t)start; \
    } \
    __attribute__((weak)) size_t offset(void *p) { \
        return (size_t)p - object(p); \
    } \
    __attribute__((weak)) size_t size_of(void *p) { \
        char *start; \
        size_t size; \
        proviso_object(p, &start, &size); \
        return size; \
    } \
    __attribute__((weak)) int same(void *p, void *q) { \
        return object(p) == object(q); \
    }
PROVISO_OBJECTS(__CPROVER_POINTER_OBJECT, __CPROVER_POINTER_OFFSET, __CPROVER_OBJECT_SIZE, __CPROVER_same_object)
PROVISO_OBJECTS(__ESBMC_POINTER_OBJECT, __ESBMC_POINTER_OFFSET, __ESBMC_get_object_size, __ESBMC_same_object)

