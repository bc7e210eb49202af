// The basis of all models: types, and the primitives of the front-end (see `src/primitives.rs`). Models include no
// header of the C library.
//
// Rules for models:
// - A model accesses no more memory than the modelled function may. An invalid access in the model is then an
//   invalid access of its caller.
// - A model calls `static` helpers. It never calls another model by its public name, because a program may define
//   that name itself. Exceptions are `malloc` and `free`, which the C library also calls by name.
// - Each file starts with a list of the names that it defines. A test checks the lists.
#pragma once

typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ssize_t;
typedef __INTMAX_TYPE__ intmax_t;
typedef __UINTMAX_TYPE__ uintmax_t;
typedef __UINTPTR_TYPE__ uintptr_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __WCHAR_TYPE__ wchar_t;
typedef __WINT_TYPE__ wint_t;
typedef __builtin_va_list va_list;
#define va_arg __builtin_va_arg
#define va_start __builtin_va_start
#define va_end __builtin_va_end
#define va_copy __builtin_va_copy

#define NULL ((void *)0)
#define EOF (-1)
#define INT_MAX 0x7fffffff
#define LONG_MAX __LONG_MAX__
#define LLONG_MAX __LONG_LONG_MAX__
#define SIZE_MAX __SIZE_MAX__
#define UINTPTR_MAX __UINTPTR_MAX__
#define PTRDIFF_MAX __PTRDIFF_MAX__

// Allocation with the behaviour of the library: if it fails, null and ENOMEM.
extern void *__proviso_alloc_zeroed(size_t size);
extern void *__proviso_alloc_aligned(size_t align, size_t size);
extern void *__proviso_alloc_mapping(size_t size);
extern void *__proviso_alloc_tree_node(size_t size);
extern void *__proviso_alloc_hash_table(size_t size);
extern void *__proviso_alloc_internal(size_t size);
extern void *__proviso_alloc_locale(size_t size);
// The same, but it never fails. Each use must say why.
extern void *__proviso_make_malloc(size_t size);
extern void *__proviso_make_zeroed(size_t size);
extern void *__proviso_make_mapping(size_t size);
extern void *__proviso_make_stream(size_t size);
extern void *__proviso_make_directory(size_t size);
extern void *__proviso_make_address_list(size_t size);
extern void *__proviso_make_regex(size_t size);
extern void *__proviso_make_internal(size_t size);
// The environment determines its content.
extern void *__proviso_make_text(size_t size);
extern void __proviso_free_mapping(void *ptr);
extern void __proviso_free_stream(void *ptr);
extern void __proviso_free_directory(void *ptr);
extern void __proviso_free_address_list(void *ptr);
extern void __proviso_free_tree_node(void *ptr);
extern void __proviso_free_hash_table(void *ptr);
extern void __proviso_free_regex(void *ptr);
extern void __proviso_free_locale(void *ptr);
extern void __proviso_free_internal(void *ptr);
// Memory that a model needs for itself.
extern void *__proviso_scratch(size_t size);
extern void __proviso_drop(void *ptr);
extern size_t __proviso_object_size(void *ptr);
extern size_t __proviso_malloc_size(void *ptr);
extern size_t __proviso_object_offset(void *ptr);

extern _Bool __proviso_allocation_fails(void);
extern _Bool __proviso_env_bool(void);
extern char __proviso_env_char(void);
extern unsigned char __proviso_env_uchar(void);
extern int __proviso_env_int(void);
extern int __proviso_env_descriptor(void);
extern long __proviso_env_long(void);
extern long long __proviso_env_longlong(void);
extern size_t __proviso_env_size(void);
extern float __proviso_env_float(void);
extern double __proviso_env_double(void);
extern long double __proviso_env_longdouble(void);
extern void __proviso_env_memory(void *ptr, size_t size);

extern void __proviso_unmodelled(const char *what);
extern void __proviso_overapproximated(const char *what);
extern void __proviso_underapproximated(const char *what);
extern void __proviso_unknown_format(const char *what);
extern void __proviso_handler(int signal, void *handler);
extern _Bool __proviso_counts(void);
extern void __proviso_expose(const void *address);

extern void __proviso_require(int condition, const char *otherwise);
extern void __proviso_use(char byte);
extern void __proviso_assume(int condition);
extern void __proviso_assume_optionally(int condition);
extern void __proviso_exit(int status) __attribute__((noreturn));
extern void __proviso_abort(void) __attribute__((noreturn));

extern void *malloc(size_t size);
extern void free(void *ptr);

// Threads, if PROVISO_THREADS is defined. See `primitives.rs`.
#ifdef PROVISO_THREADS
extern void __proviso_thread_start(void *(*start)(void *), void *argument);
extern void __proviso_thread_end(void) __attribute__((noreturn));
extern void *__proviso_thread_this(void);
extern void __proviso_atomic_begin(unsigned kind);
extern void __proviso_atomic_finish(void);
extern void __proviso_atomic_when(const int *word, unsigned relation, int value, const int *interrupt);
extern void __proviso_acquire(const void *address, unsigned exclusive);
extern void __proviso_release(const void *address);
extern void __proviso_fence(unsigned order);
extern void __proviso_atomic_update(const void *address, unsigned order);
extern void __proviso_observe(void);
extern void __proviso_access_lock(const void *address, unsigned writes);
enum { SEQUENTIAL = 7, SYNCHRONISES = 17, OBSERVES, RELEASES };
enum { EQUAL, UNEQUAL, AT_LEAST };
// A memory order in C11's numbers, converted to LLVM's.
#define MEMORY_ORDER(order) ((order) == 0 ? 2 : (order) <= 2 ? 4 : (order) + 2)
// An access with a memory order in C11's numbers.
#define ATOMICALLY(order) __proviso_atomic_begin(MEMORY_ORDER(order))
// The access writes after it has read. Its order was that of a failure so far.
#define ATOMICALLY_UPDATE(address, order) __proviso_atomic_update(address, MEMORY_ORDER(order))
#define ATOMICALLY_DONE __proviso_atomic_finish()
// The operation accesses objects of the program, apart from the atomic one, which is not checked for data races.
#define OPERANDS_ARE_UNCHECKED __proviso_observe()
#else
#define ATOMICALLY(order) ((void)0)
#define ATOMICALLY_UPDATE(address, order) ((void)0)
#define ATOMICALLY_DONE ((void)0)
#define OPERANDS_ARE_UNCHECKED ((void)0)
#endif

// The number of the rounding mode on x86: 0 to nearest, 1 down, 2 up, 3 towards zero. Arithmetic in models rounds to
// nearest in every mode. If the mode may be another one, PROVISO_ROUNDING is defined. A function whose results depend
// on the mode then starts with IN_MODE.
extern unsigned __proviso_rounding(void);
extern void __proviso_set_rounding(unsigned mode);
#ifdef PROVISO_ROUNDING
#define IN_MODE _Pragma("STDC FENV_ACCESS ON")
#define ROUNDS_TO_NEAREST (__proviso_rounding() == 0)
#define ROUNDS_DOWN (__proviso_rounding() == 1)
#else
#define IN_MODE
#define ROUNDS_TO_NEAREST 1
#define ROUNDS_DOWN 0
#endif

// `errno`. Models set it only if the program can observe it. `PROVISO_ERRNO` is then defined.
#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define EBADF 9
#define EAGAIN 11
#define ENOMEM 12
#define EBUSY 16
#define EINVAL 22
#define ENOSPC 28
#define ESPIPE 29
#define EDOM 33
#define ERANGE 34
#define EDEADLK 35
#define ENAMETOOLONG 36
#define EOVERFLOW 75
#define EILSEQ 84
#define EAFNOSUPPORT 97
#define ETIMEDOUT 110

#ifdef PROVISO_ERRNO
#ifdef PROVISO_THREADS
static _Thread_local int proviso_errno;
#else
static int proviso_errno;
#endif
#define SET_ERRNO(value) (proviso_errno = (value))
#define SET_ERRNO_IF(condition, value)                                                                               \
    do {                                                                                                             \
        if (condition)                                                                                               \
            proviso_errno = (value);                                                                                 \
    } while (0)
#else
#define SET_ERRNO(value) ((void)0)
#define SET_ERRNO_IF(condition, value) ((void)0)
#endif

// A value of the environment between two bounds (inclusive).
static int proviso_env_between(int low, int high) {
    int value = __proviso_env_int();
    __proviso_assume((value >= low) & (value <= high));
    return value;
}

// An arbitrary error number.
static int proviso_env_error(void) { return proviso_env_between(1, 133); }

static size_t proviso_strlen(const char *s) {
    const char *end = s;
    while (*end)
        end++;
    return end - s;
}

// Reads a path. Returns the error if Linux has no such path, or 0.
static int proviso_path_error(const char *path) {
    // The read may be invalid. Longer paths than Linux accepts may have any result.
    proviso_strlen(path);
    return *path ? 0 : ENOENT;
}

// Waits for ever.
__attribute__((noreturn)) static void proviso_wait_for_ever(void) {
    for (;;)
        ;
}

// The program has installed a handler of a signal.
static _Bool proviso_handles_signals;

// The call returns, or waits for ever. The model does not decide which.
static void proviso_may_wait_for_ever(const char *what) {
    if (__proviso_env_bool()) {
        __proviso_overapproximated(what);
        proviso_wait_for_ever();
    }
}

// Reads a region, because the read may be invalid.
static void proviso_read(const void *ptr, size_t size) {
    if (size) {
        void *copy = __proviso_scratch(size);
        __builtin_memcpy(copy, ptr, size);
        __proviso_drop(copy);
    }
}

// Reads data that leaves the program, or that the library computes with. It must be initialised if that check is enabled. (Padding that is only copied need not be.)
static void proviso_put_out(const void *ptr, size_t size) {
    proviso_read(ptr, size);
#ifdef PROVISO_INITIALISED
    for (size_t i = 0; i < size; i++)
        __proviso_use(((const char *)ptr)[i]);
#endif
}

// Requirements of C on arguments, if that check is enabled.
#ifdef PROVISO_ARGUMENTS
#define REQUIRE(condition, otherwise) __proviso_require(condition, otherwise)

// Checks that bytes that were read and others that were written do not overlap. To be called after the accesses, which were valid.
static void proviso_require_disjoint(const void *from, size_t read, const void *to, size_t written) {
    size_t i = __proviso_object_offset((void *)from), j = __proviso_object_offset((void *)to);
    if ((uintptr_t)from - i == (uintptr_t)to - j)
        __proviso_require(i + read <= j || j + written <= i, "memory is copied to memory that overlaps it");
}
#define REQUIRE_DISJOINT(from, read, to, written) proviso_require_disjoint(from, read, to, written)

// Bytes of one object, some of which are always read, however early the result is known.
static void proviso_require_readable(const char *ptr, size_t size) {
    if (size)
        (void)*(const volatile char *)(ptr + size - 1);
}
#define REQUIRE_READABLE(ptr, size) proviso_require_readable(ptr, size)
#else
#define REQUIRE(condition, otherwise) ((void)0)
#define REQUIRE_DISJOINT(from, read, to, written) ((void)0)
#define REQUIRE_READABLE(ptr, size) ((void)0)
#endif

// Another process of the program runs, or has run: its parent, or a child.
static _Bool __attribute__((unused)) proviso_has_forked;
// The reason of a taint: the clocks of a process start again in its children.
#define PROVISO_RESTARTED "the processor time of child processes is not modelled exactly"
