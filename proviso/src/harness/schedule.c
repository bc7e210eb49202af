#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <linux/futex.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <threads.h>
/* The compiler must not instrument the harness. */
#pragma clang attribute push(__attribute__((disable_sanitizer_instrumentation)), apply_to = function)

/* Turns. The thread with the turn runs. When it reaches a step after the end of its segment, it passes the turn on. A call of a
 * function that synchronises is two steps: one before it changes anything, and one before it takes effect. The thread may wait
 * between the two. */
enum { PROVISO_THREADS = 128 };
static __thread int proviso_me;
static __thread uintptr_t proviso_stack, proviso_stack_size;
static __thread struct proviso_range {
    uintptr_t start, end;
} proviso_locals; /* the thread-local variables of the program */
static volatile int proviso_started, proviso_over, proviso_turn, proviso_segment = -1;
static volatile unsigned long proviso_left, proviso_progress;
static volatile long proviso_step_number = -1;
static int proviso_word;
static pthread_t proviso_ids[PROVISO_THREADS];
static int proviso_count = 1;

/* The function of the library, or the wrapper of a sanitizer around it. */
#define PROVISO_REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
extern __typeof__(pthread_create) __interceptor_pthread_create __attribute__((weak));

static void proviso_forever(void) {
    for (;;)
        pause();
}

static void proviso_pass(void) {
    if (++proviso_segment < PROVISO_SEGMENTS) {
        proviso_left = proviso_segments[proviso_segment].steps;
        proviso_turn = proviso_segments[proviso_segment].thread;
    } else {
        proviso_step_number = -2;
        proviso_over = 1;
    }
    __atomic_add_fetch(&proviso_word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &proviso_word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Waits for the turn. After the end of the schedule, only the thread with the violation continues; for a deadlock, all do. */
static void proviso_wait(void) {
    for (;;) {
        int word = __atomic_load_n(&proviso_word, __ATOMIC_SEQ_CST);
        if (proviso_over) {
            if (!PROVISO_DEADLOCK && proviso_me != PROVISO_LAST)
                proviso_forever();
            return;
        }
        if (proviso_turn == proviso_me && proviso_left > 0)
            return;
        syscall(SYS_futex, &proviso_word, FUTEX_WAIT_PRIVATE, word, NULL, NULL, 0);
    }
}

static int proviso_is_program(const void *);
/* A step of a function that the library may call, too. Only calls by the program are steps. */
#define PROVISO_STEP() (proviso_is_program(__builtin_return_address(0)) ? proviso_step() : (void)0)

static void proviso_step(void) {
    if (!proviso_started)
        return;
    proviso_progress++;
    if (!proviso_over && proviso_turn == proviso_me && proviso_left == 0)
        proviso_pass();
    proviso_wait();
    if (!proviso_over) {
        proviso_left--;
        proviso_step_number++;
    }
}

/* Reports an error if no thread has taken a step for some seconds. */
static void *proviso_watch(void *unused) {
    unsigned long before = 0;
    for (int quiet = 0; quiet < (PROVISO_DEADLOCK && proviso_over ? 2 : 10); quiet++) {
        struct timespec second = {1, 0};
        syscall(SYS_nanosleep, &second, NULL);
        if (before != proviso_progress)
            quiet = 0;
        before = proviso_progress;
    }
    if (PROVISO_DEADLOCK && proviso_over) {
        fputs("proviso: deadlock: no thread can go on\n", stderr);
        abort();
    }
    if (proviso_over) {
        fputs("proviso: the schedule has ended, and no check has seen the violation\n", stderr);
        _exit(2);
    }
    fprintf(stderr, "proviso: the threads left the schedule, in its part %d of %d\n", proviso_segment + 1, PROVISO_SEGMENTS);
    _exit(2);
    return unused;
}

/* Called before the program ends: the schedule may have steps of other threads before that. */
static void proviso_leave(void) {
    if (!proviso_started)
        return;
    if (!proviso_over && proviso_turn == proviso_me)
        proviso_pass();
    proviso_wait();
}

PROVISO_OURS void abort(void) {
    if (proviso_is_program(__builtin_return_address(0)))
        proviso_leave();
    PROVISO_REAL(abort)();
    _exit(134);
}

/* The constants of the program, its code, and the stack objects that threads reach from their arguments. */
static struct proviso_range proviso_constant[16], proviso_program, proviso_shared[PROVISO_THREADS];
static int proviso_constants, proviso_count_shared;

static int proviso_contains(struct proviso_range range, const void *at) {
    return (uintptr_t)at - range.start < range.end - range.start;
}
static int proviso_is_program(const void *at) { return proviso_contains(proviso_program, at); }

static int proviso_find_constants(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        struct proviso_range range = {start, start + header->p_memsz};
        if (((header->p_type == PT_LOAD && !(header->p_flags & PF_W)) || header->p_type == PT_GNU_RELRO) && proviso_constants < 16)
            proviso_constant[proviso_constants++] = range;
        if (header->p_type == PT_LOAD && header->p_flags & PF_X)
            proviso_program = range;
    }
    return 1; /* The first object is the program itself. */
}

static int proviso_find_locals(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_TLS && info->dlpi_tls_data) {
            proviso_locals.start = (uintptr_t)info->dlpi_tls_data;
            proviso_locals.end = proviso_locals.start + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

/* Memory of threads whose lifetime has ended. */
static struct {
    struct proviso_range range;
    int owner;
} proviso_ended[PROVISO_THREADS];
static int proviso_count_ended;

static void proviso_end_of(struct proviso_range range) {
    if (proviso_count_ended < PROVISO_THREADS) {
        proviso_ended[proviso_count_ended].range = range;
        proviso_ended[proviso_count_ended++].owner = proviso_me;
    }
}

/* Reports an access of the last thread to such memory of another thread. */
static void proviso_check_lifetime(const void *at) {
    for (int i = 0; i < proviso_count_shared; i++)
        if (proviso_contains(proviso_shared[i], at))
            return;
    for (int i = 0; i < proviso_count_ended; i++)
        if (proviso_ended[i].owner != proviso_me && proviso_contains(proviso_ended[i].range, at)) {
            fprintf(stderr, "proviso: thread %d uses an object of thread %d after its lifetime\n", proviso_me,
                    proviso_ended[i].owner);
            abort();
        }
}

static void proviso_find_stack(void) {
    dl_iterate_phdr(proviso_find_locals, NULL);
    pthread_attr_t attributes;
    void *start;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return;
    pthread_attr_getstack(&attributes, &start, &size);
    pthread_attr_destroy(&attributes);
    proviso_stack = (uintptr_t)start;
    proviso_stack_size = size;
    /* The library uses the stacks of threads again. */
    for (int i = proviso_count_ended; i-- > 0;)
        if (proviso_ended[i].range.start - proviso_stack < proviso_stack_size)
            proviso_ended[i] = proviso_ended[--proviso_count_ended];
}

/* Returns 1 if accesses of this thread to the address are no steps: those to constants, to its stack, and to thread-local
 * variables of the library. */
static int proviso_is_private(const void *at) {
    uintptr_t address = (uintptr_t)at, locals = (uintptr_t)__builtin_thread_pointer();
    for (int i = 0; i < proviso_count_shared; i++)
        if (proviso_contains(proviso_shared[i], at))
            return 0;
    if (proviso_contains(proviso_locals, at))
        return 0;
    if (address - proviso_stack < proviso_stack_size)
        return 1;
    /* The thread-local variables of the first thread lie around its control block, those of others on the stack. */
    if (proviso_me == 0 && address - (locals - 4096) < 8192)
        return 1;
    for (int i = 0; i < proviso_constants; i++)
        if (proviso_contains(proviso_constant[i], at))
            return 1;
    return 0;
}

/* A stack object that is reachable from the argument of a thread is shared from the start of the thread until its function ends. */
static void proviso_share(const char *argument, int thread) {
    static const char *objects[PROVISO_OBJECTS + 1];
    for (int i = 0; i < PROVISO_OBJECTS; i++) {
        if (proviso_objects[i].thread != thread)
            continue;
        int parent = proviso_objects[i].parent;
        const char *target = argument;
        if (parent >= 0)
            memcpy(&target, objects[parent] + proviso_objects[i].at, sizeof target);
        objects[i] = target - proviso_objects[i].offset;
        struct proviso_range range = {(uintptr_t)objects[i], (uintptr_t)objects[i] + proviso_objects[i].size};
        if (range.start < range.end && proviso_count_shared < PROVISO_THREADS)
            proviso_shared[proviso_count_shared++] = range;
    }
    memset(objects, 0, sizeof objects);
}
void __tsan_func_exit(void) {
    uintptr_t frame = (uintptr_t)__builtin_frame_address(1);
    for (int i = proviso_count_shared; i-- > 0;) {
        uintptr_t start = proviso_shared[i].start;
        if (start - proviso_stack < proviso_stack_size && start < frame) {
            proviso_end_of(proviso_shared[i]);
            proviso_shared[i] = proviso_shared[--proviso_count_shared];
        }
    }
}

/* The happens-before relation by vector clocks (Mattern 1989), as in ThreadSanitizer. */
typedef unsigned proviso_clock[PROVISO_THREADS];
static proviso_clock proviso_clocks[PROVISO_THREADS], proviso_read[PROVISO_THREADS], proviso_fenced[PROVISO_THREADS];
static struct proviso_released {
    const void *object;
    proviso_clock clock;
    struct proviso_released *next;
} *proviso_released[1024];

static unsigned *proviso_clock_of(const void *object) {
    struct proviso_released **at = &proviso_released[((uintptr_t)object >> 2) % 1024];
    while (*at && (*at)->object != object)
        at = &(*at)->next;
    if (!*at) {
        *at = calloc(1, sizeof **at);
        (*at)->object = object;
    }
    return (*at)->clock;
}

static void proviso_join(unsigned *into, const unsigned *clock) {
    for (int i = 0; i < PROVISO_THREADS; i++)
        if (into[i] < clock[i])
            into[i] = clock[i];
}

static void proviso_acquire(const volatile void *object) {
    if (proviso_race[0] >= 0)
        proviso_join(proviso_clocks[proviso_me], proviso_clock_of((const void *)object));
}

static void proviso_release(const volatile void *object) {
    if (proviso_race[0] < 0)
        return;
    proviso_join(proviso_clock_of((const void *)object), proviso_clocks[proviso_me]);
    proviso_clocks[proviso_me][proviso_me]++;
}

/* Memory orders have the numbers of the compiler: 0 relaxed, consume, acquire, release, acquire-release, 5 sequentially consistent. */
static void proviso_loaded(const volatile void *object, int order) {
    if (proviso_race[0] < 0)
        return;
    const unsigned *clock = proviso_clock_of((const void *)object);
    proviso_join(proviso_read[proviso_me], clock);
    if (order == 2 || order >= 4)
        proviso_join(proviso_clocks[proviso_me], clock);
}

static void proviso_stored(const volatile void *object, int order, int updates) {
    if (proviso_race[0] < 0)
        return;
    unsigned *clock = proviso_clock_of((const void *)object);
    if (!updates)
        memset(clock, 0, sizeof(proviso_clock));
    proviso_join(clock, order >= 3 ? proviso_clocks[proviso_me] : proviso_fenced[proviso_me]);
    proviso_clocks[proviso_me][proviso_me] += order >= 3;
}

void __tsan_atomic_thread_fence(int order) {
    if (order != 3)
        proviso_join(proviso_clocks[proviso_me], proviso_read[proviso_me]);
    if (order >= 3) {
        memcpy(proviso_fenced[proviso_me], proviso_clocks[proviso_me], sizeof(proviso_clock));
        proviso_clocks[proviso_me][proviso_me]++;
    }
}
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* Atomic blocks are one lock. A thread takes it at its first step in the block. */
static const char proviso_blocks;
static __thread int proviso_block; /* 1 in a block before its first step, 2 after it */
#define PROVISO_BLOCK(verifier) \
    __attribute__((weak)) void verifier##_atomic_begin(void) { proviso_block = 1; } \
    __attribute__((weak)) void verifier##_atomic_end(void) { \
        if (proviso_block == 2) \
            proviso_release(&proviso_blocks); \
        proviso_block = 0; \
    }
PROVISO_BLOCK(__VERIFIER)
PROVISO_BLOCK(__CPROVER)
PROVISO_BLOCK(__ESBMC)

/* The accesses of the first of the two racing steps. */
static struct {
    uintptr_t start, end;
    int writes, is_atomic;
} proviso_first[4];
static int proviso_firsts, proviso_first_thread;
static unsigned proviso_first_time;

enum { PROVISO_READS, PROVISO_WRITES, PROVISO_FREES };
static const char *const proviso_verbs[] = {"reads", "writes", "frees"};

static void proviso_access(const volatile void *at, size_t size, int writes, int is_atomic) {
    uintptr_t start = (uintptr_t)at, end = start + size;
    if (proviso_step_number == proviso_race[0] && proviso_race[0] >= 0 && proviso_firsts < 4) {
        proviso_first[proviso_firsts].start = start;
        proviso_first[proviso_firsts].end = end;
        proviso_first[proviso_firsts].writes = writes;
        proviso_first[proviso_firsts++].is_atomic = is_atomic || proviso_block;
        proviso_first_thread = proviso_me;
        proviso_first_time = proviso_clocks[proviso_me][proviso_me];
    }
    if (proviso_step_number != proviso_race[1] || proviso_race[1] < 0)
        return;
    for (int i = 0; i < proviso_firsts; i++) {
        int conflicts = (writes || proviso_first[i].writes) && !((is_atomic || proviso_block) && proviso_first[i].is_atomic);
        if (!conflicts || end <= proviso_first[i].start || proviso_first[i].end <= start)
            continue;
        if (proviso_me == proviso_first_thread || proviso_clocks[proviso_me][proviso_first_thread] >= proviso_first_time)
            continue;
        fprintf(stderr, "proviso: data race: thread %d %s %zu bytes at %p, which thread %d %s, and nothing orders the two\n",
                proviso_me, proviso_verbs[writes], size, (void *)start, proviso_first_thread,
                proviso_verbs[proviso_first[i].writes]);
        abort();
    }
}

static int proviso_visible(const volatile void *at, const volatile void *other) {
    if (!proviso_started || (proviso_is_private((const void *)at) && proviso_is_private((const void *)other)))
        return 0;
    proviso_step();
    if (proviso_over && PROVISO_LIFETIMES) {
        proviso_check_lifetime((const void *)at);
        proviso_check_lifetime((const void *)other);
    }
    if (proviso_block == 1) {
        proviso_block = 2;
        proviso_acquire(&proviso_blocks);
    }
    return 1;
}

static void proviso_plain(const void *at, size_t size, int writes) {
    if (size && proviso_visible(at, at))
        proviso_access(at, size, writes, 0);
}

/* The functions to which the compiler inserts calls. */
void __tsan_init(void) {}
void __sanitizer_cov_trace_pc(void) {}
void __tsan_func_entry(void *at) { (void)at; }
#define PROVISO_ACCESSES(size) \
    void __sanitizer_cov_load##size(void *at) { proviso_plain(at, size, 0); } \
    void __sanitizer_cov_store##size(void *at) { proviso_plain(at, size, 1); }
PROVISO_ACCESSES(1)
PROVISO_ACCESSES(2)
PROVISO_ACCESSES(4)
PROVISO_ACCESSES(8)
PROVISO_ACCESSES(16)

static void proviso_copies(const void *to, const void *from, size_t size) {
    if (size && proviso_visible(to, from)) {
        proviso_access(from, size, 0, 0);
        proviso_access(to, size, 1, 0);
    }
}
void *__tsan_memcpy(void *to, const void *from, uintptr_t size) {
    proviso_copies(to, from, size);
    return memmove(to, from, size);
}
void *__tsan_memmove(void *to, const void *from, uintptr_t size) {
    proviso_copies(to, from, size);
    return memmove(to, from, size);
}
void *__tsan_memset(void *to, int byte, uintptr_t size) {
    proviso_plain(to, size, 1);
    return memset(to, byte, size);
}

/* Atomic loads and stores are steps already, because coverage instruments them like other loads and stores. */
static void proviso_update(const volatile void *at, size_t size, int order) {
    if (!proviso_visible(at, at))
        return;
    proviso_loaded(at, order);
    proviso_access(at, size, 1, 1);
    proviso_stored(at, order, 1);
}
#define PROVISO_UPDATE(bits, type, name, expression) \
    type __tsan_atomic##bits##_##name(volatile type *at, type value, int order) { \
        proviso_update(at, sizeof *at, order); \
        type old = *at; \
        *at = expression; \
        return old; \
    }
#define PROVISO_ATOMICS(bits, type) \
    type __tsan_atomic##bits##_load(const volatile type *at, int order) { \
        proviso_loaded(at, order); \
        return *at; \
    } \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order) { \
        proviso_stored(at, order, 0); \
        *at = value; \
    } \
    PROVISO_UPDATE(bits, type, exchange, value) \
    PROVISO_UPDATE(bits, type, fetch_add, old + value) \
    PROVISO_UPDATE(bits, type, fetch_sub, old - value) \
    PROVISO_UPDATE(bits, type, fetch_and, old &value) \
    PROVISO_UPDATE(bits, type, fetch_or, old | value) \
    PROVISO_UPDATE(bits, type, fetch_xor, old ^ value) \
    PROVISO_UPDATE(bits, type, fetch_nand, ~(old & value)) \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected, type value, int order, int failed) { \
        if (proviso_visible(at, at)) { \
            int succeeds = *at == expected; \
            proviso_loaded(at, succeeds ? order : failed); \
            proviso_access(at, sizeof *at, succeeds, 1); \
            if (succeeds) \
                proviso_stored(at, order, 1); \
        } \
        type old = *at; \
        if (old == expected) \
            *at = value; \
        return old; \
    } \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected, type value, int order, int failed) { \
        type wanted = *expected; \
        *expected = __tsan_atomic##bits##_compare_exchange_val(at, wanted, value, order, failed); \
        return *expected == wanted; \
    }
PROVISO_ATOMICS(8, uint8_t)
PROVISO_ATOMICS(16, uint16_t)
PROVISO_ATOMICS(32, uint32_t)
PROVISO_ATOMICS(64, uint64_t)
#ifdef __SIZEOF_INT128__
PROVISO_ATOMICS(128, unsigned __int128)
#endif

/* Threads. */
static pthread_key_t proviso_ending;

/* The end of a thread is a step after all destructors of the program. So it happens in their second round. */
static void proviso_end(void *round) {
    if (round == (void *)1) {
        pthread_setspecific(proviso_ending, (void *)2);
        return;
    }
    proviso_step();
    proviso_release(&proviso_ids[proviso_me]);
    proviso_end_of(proviso_locals);
    struct proviso_range stack = {proviso_stack, proviso_stack + proviso_stack_size};
    for (int i = proviso_count_shared; i-- > 0;)
        if (proviso_contains(stack, (const void *)proviso_shared[i].start))
            proviso_shared[i] = proviso_shared[--proviso_count_shared];
    proviso_end_of(stack);
    if (!proviso_over && proviso_turn == proviso_me)
        proviso_pass();
}

__attribute__((constructor)) static void proviso_threads_begin(void) {
    dl_iterate_phdr(proviso_find_constants, NULL);
    proviso_find_stack();
    pthread_key_create(&proviso_ending, proviso_end);
    pthread_setspecific(proviso_ending, (void *)1);
    proviso_clocks[0][0] = 1;
    atexit(proviso_leave);
}

struct proviso_start {
    void *(*routine)(void *);
    int (*routine_of_c11)(void *);
    void *argument;
    int number;
};

static void *proviso_run(void *given) {
    struct proviso_start start = *(struct proviso_start *)given;
    /* Only the program refers to the argument from here on. */
    memset(given, 0, sizeof start);
    proviso_me = start.number;
    proviso_find_stack();
    pthread_setspecific(proviso_ending, (void *)1);
    proviso_step();
    return start.routine ? start.routine(start.argument) : (void *)(intptr_t)start.routine_of_c11(start.argument);
}

static int proviso_create(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *), int (*of_c11)(void *),
                          void *argument) {
    __typeof__(&pthread_create) create = __interceptor_pthread_create;
    if (!create)
        create = PROVISO_REAL(pthread_create);
    proviso_step();
    proviso_step();
    if (proviso_count >= PROVISO_THREADS)
        _exit(2);
    proviso_share(argument, proviso_count);
    if (!proviso_started) {
        pthread_t watch;
        proviso_started = 1;
        create(&watch, NULL, proviso_watch, NULL);
    }
    static struct proviso_start starts[PROVISO_THREADS];
    struct proviso_start *start = &starts[proviso_count];
    start->routine = routine;
    start->routine_of_c11 = of_c11;
    start->argument = argument;
    start->number = proviso_count++;
    proviso_join(proviso_clocks[start->number], proviso_clocks[proviso_me]);
    proviso_clocks[start->number][start->number] = 1;
    proviso_clocks[proviso_me][proviso_me]++;
    int result = create(id, attributes, proviso_run, start);
    proviso_ids[start->number] = *id;
    return result;
}
PROVISO_OURS int pthread_create(pthread_t *id, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument) {
    return proviso_create(id, attributes, routine, NULL, argument);
}
PROVISO_OURS int thrd_create(thrd_t *id, thrd_start_t routine, void *argument) {
    return proviso_create(id, NULL, NULL, routine, argument) ? thrd_error : thrd_success;
}
static void proviso_joined(pthread_t id) {
    for (int i = 1; i < proviso_count; i++)
        if (proviso_ids[i] == id)
            proviso_acquire(&proviso_ids[i]);
}
PROVISO_OURS int pthread_join(pthread_t id, void **result) {
    if (pthread_equal(id, pthread_self()))
        return EDEADLK;
    PROVISO_STEP();
    PROVISO_STEP();
    proviso_joined(id);
    return PROVISO_REAL(pthread_join)(id, result);
}
PROVISO_OURS int thrd_join(thrd_t id, int *result) {
    if (thrd_equal(id, thrd_current()))
        return thrd_error;
    PROVISO_STEP();
    PROVISO_STEP();
    proviso_joined(id);
    return PROVISO_REAL(thrd_join)(id, result);
}
PROVISO_OURS int pthread_detach(pthread_t id) {
    PROVISO_STEP();
    PROVISO_STEP();
    return PROVISO_REAL(pthread_detach)(id);
}
PROVISO_OURS int thrd_detach(thrd_t id) {
    PROVISO_STEP();
    PROVISO_STEP();
    return PROVISO_REAL(thrd_detach)(id);
}

/* Reports a use of a lock after its lifetime. The functions of the library do not check that. */
extern void *__asan_region_is_poisoned(void *, size_t) __attribute__((weak));
static void proviso_uses(void *lock, size_t size) {
    if (!proviso_over || !PROVISO_LIFETIMES)
        return;
    proviso_check_lifetime(lock);
    if (__asan_region_is_poisoned && __asan_region_is_poisoned(lock, size)) {
        fprintf(stderr, "proviso: thread %d uses a lock after its lifetime\n", proviso_me);
        abort();
    }
}

/* Locks. The schedule ensures that a lock is free when a thread acquires it. */
#define PROVISO_LOCK(name, type) \
    PROVISO_OURS int name(type *lock) { \
        PROVISO_STEP(); \
        PROVISO_STEP(); \
        proviso_uses(lock, sizeof *lock); \
        int result = PROVISO_REAL(name)(lock); \
        if (result == 0) \
            proviso_acquire(lock); \
        return result; \
    }
#define PROVISO_UNLOCK(name, type) \
    PROVISO_OURS int name(type *lock) { \
        PROVISO_STEP(); \
        PROVISO_STEP(); \
        proviso_uses(lock, sizeof *lock); \
        proviso_release(lock); \
        return PROVISO_REAL(name)(lock); \
    }
PROVISO_LOCK(pthread_mutex_lock, pthread_mutex_t)
PROVISO_LOCK(pthread_mutex_trylock, pthread_mutex_t)
PROVISO_UNLOCK(pthread_mutex_unlock, pthread_mutex_t)
PROVISO_LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
PROVISO_LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
PROVISO_LOCK(pthread_rwlock_tryrdlock, pthread_rwlock_t)
PROVISO_LOCK(pthread_rwlock_trywrlock, pthread_rwlock_t)
PROVISO_UNLOCK(pthread_rwlock_unlock, pthread_rwlock_t)
PROVISO_LOCK(pthread_spin_lock, pthread_spinlock_t)
PROVISO_LOCK(pthread_spin_trylock, pthread_spinlock_t)
PROVISO_UNLOCK(pthread_spin_unlock, pthread_spinlock_t)
PROVISO_OURS int pthread_mutex_destroy(pthread_mutex_t *lock) {
    PROVISO_STEP();
    PROVISO_STEP();
    proviso_uses(lock, sizeof *lock);
    return PROVISO_REAL(pthread_mutex_destroy)(lock);
}
PROVISO_LOCK(sem_wait, sem_t)
PROVISO_LOCK(sem_trywait, sem_t)
PROVISO_UNLOCK(sem_post, sem_t)
PROVISO_LOCK(mtx_lock, mtx_t)
PROVISO_LOCK(mtx_trylock, mtx_t)
PROVISO_UNLOCK(mtx_unlock, mtx_t)

PROVISO_OURS int sem_getvalue(sem_t *semaphore, int *value) {
    PROVISO_STEP();
    PROVISO_STEP();
    return PROVISO_REAL(sem_getvalue)(semaphore, value);
}

/* The results of functions with a timeout, from the schedule. */
static int proviso_next_timed(void) {
    static int next;
    return next < PROVISO_TIMED ? proviso_timed[next++] : 0;
}
PROVISO_OURS int pthread_mutex_timedlock(pthread_mutex_t *lock, const struct timespec *until) {
    (void)until;
    PROVISO_STEP();
    PROVISO_STEP();
    int result = proviso_next_timed();
    if (result == 0) {
        PROVISO_REAL(pthread_mutex_lock)(lock);
        proviso_acquire(lock);
    }
    return result;
}
PROVISO_OURS int mtx_timedlock(mtx_t *lock, const struct timespec *until) {
    (void)until;
    PROVISO_STEP();
    PROVISO_STEP();
    int result = proviso_next_timed();
    if (result == 0) {
        PROVISO_REAL(mtx_lock)(lock);
        proviso_acquire(lock);
    }
    return result;
}
PROVISO_OURS int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
    if (until->tv_nsec < 0 || until->tv_nsec >= 1000000000) {
        errno = EINVAL;
        return proviso_next_timed();
    }
    PROVISO_STEP();
    PROVISO_STEP();
    int result = proviso_next_timed();
    if (result == 0) {
        PROVISO_REAL(sem_wait)(semaphore);
        proviso_acquire(semaphore);
    } else
        errno = ETIMEDOUT;
    return result;
}

/* Condition variables. The schedule determines when a thread wakes up. POSIX permits that at any time. */
static int proviso_sleep(pthread_mutex_t *lock) {
    proviso_step();
    proviso_release(lock);
    PROVISO_REAL(pthread_mutex_unlock)(lock);
    if (!proviso_started)
        proviso_forever();
    proviso_step();
    if (proviso_over && PROVISO_DEADLOCK)
        proviso_forever();
    PROVISO_REAL(pthread_mutex_lock)(lock);
    proviso_acquire(lock);
    return 0;
}
PROVISO_OURS int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock) {
    if (!proviso_is_program(__builtin_return_address(0)))
        return PROVISO_REAL(pthread_cond_wait)(condition, lock);
    return proviso_sleep(lock);
}
PROVISO_OURS int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until) {
    if (!proviso_is_program(__builtin_return_address(0)))
        return PROVISO_REAL(pthread_cond_timedwait)(condition, lock, until);
    proviso_sleep(lock);
    return proviso_next_timed();
}
PROVISO_OURS int pthread_cond_signal(pthread_cond_t *condition) {
    PROVISO_STEP();
    PROVISO_STEP();
    return PROVISO_REAL(pthread_cond_signal)(condition);
}
PROVISO_OURS int pthread_cond_broadcast(pthread_cond_t *condition) {
    PROVISO_STEP();
    PROVISO_STEP();
    return PROVISO_REAL(pthread_cond_broadcast)(condition);
}
PROVISO_OURS int cnd_wait(cnd_t *condition, mtx_t *lock) {
    (void)condition;
    return proviso_sleep((pthread_mutex_t *)lock);
}
PROVISO_OURS int cnd_timedwait(cnd_t *condition, mtx_t *lock, const struct timespec *until) {
    (void)condition, (void)until;
    proviso_sleep((pthread_mutex_t *)lock);
    return proviso_next_timed();
}
PROVISO_OURS int cnd_signal(cnd_t *condition) {
    PROVISO_STEP();
    PROVISO_STEP();
    return PROVISO_REAL(cnd_signal)(condition);
}
PROVISO_OURS int cnd_broadcast(cnd_t *condition) {
    PROVISO_STEP();
    PROVISO_STEP();
    return PROVISO_REAL(cnd_broadcast)(condition);
}

/* Barriers. */
struct proviso_barrier {
    unsigned count, waiting;
};
PROVISO_OURS int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned count) {
    (void)attributes;
    if (count == 0)
        return EINVAL;
    struct proviso_barrier *own = (struct proviso_barrier *)barrier;
    own->count = count;
    own->waiting = 0;
    return 0;
}
PROVISO_OURS int pthread_barrier_destroy(pthread_barrier_t *barrier) {
    (void)barrier;
    return 0;
}
PROVISO_OURS int pthread_barrier_wait(pthread_barrier_t *barrier) {
    struct proviso_barrier *own = (struct proviso_barrier *)barrier;
    PROVISO_STEP();
    proviso_release(barrier);
    int is_last = ++own->waiting == own->count;
    if (is_last)
        own->waiting = 0;
    PROVISO_STEP();
    if (!is_last && (!proviso_started || (proviso_over && PROVISO_DEADLOCK)))
        proviso_forever();
    proviso_acquire(barrier);
    return is_last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

/* One-time initialisation. The state is 0 before, 1 during, and 2 after it. */
static void proviso_once(int *state, void (*routine)(void)) {
    proviso_step();
    if (*state == 0) {
        *state = 1;
        routine();
        proviso_step();
        proviso_release(state);
        *state = 2;
        return;
    }
    proviso_step();
    if (*state != 2)
        proviso_forever();
    proviso_acquire(state);
}
PROVISO_OURS int pthread_once(pthread_once_t *once, void (*routine)(void)) {
    if (!proviso_is_program(__builtin_return_address(0)))
        return PROVISO_REAL(pthread_once)(once, routine);
    proviso_once((int *)once, routine);
    return 0;
}
PROVISO_OURS void call_once(once_flag *once, void (*routine)(void)) { proviso_once((int *)once, routine); }

/* Keys. */
PROVISO_OURS int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    PROVISO_STEP();
    PROVISO_STEP();
    return PROVISO_REAL(pthread_key_create)(key, destructor);
}
PROVISO_OURS int tss_create(tss_t *key, tss_dtor_t destructor) {
    PROVISO_STEP();
    PROVISO_STEP();
    return PROVISO_REAL(tss_create)(key, destructor);
}

/* A call of free is a step, because other threads can observe it. The library calls it if it is the destructor of a key. */
void proviso_free(void *memory) {
    if (memory) {
        proviso_step();
        if (proviso_race[0] >= 0) {
            size_t size = malloc_usable_size(memory); /* may be 0 for memory that is freed already */
            proviso_access(memory, size ? size : 1, PROVISO_FREES, 0);
        }
    }
    free(memory);
}

/* Sleeping has no effect, because the schedule determines the order. */
PROVISO_OURS unsigned sleep(unsigned seconds) {
    (void)seconds;
    return 0;
}
PROVISO_OURS int usleep(useconds_t microseconds) {
    (void)microseconds;
    return 0;
}
