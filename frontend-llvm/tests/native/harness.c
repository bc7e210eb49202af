// The native harness: runs drivers with the library, then with the models. See harness.h.
#include "harness.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

int modelled;
// Standard output of the harness. Drivers have another one.
static FILE *report;

static struct driver {
    const char *name;
    void (*run)(void);
} drivers[1000];
static unsigned driver_count;

void enlist(const char *name, void (*run)(void)) { drivers[driver_count++] = (struct driver){name, run}; }

// The end of a run.
enum { DONE, REJECTED, ABORTED, CRASHED, NO_PATH, GIVEN_UP };
static jmp_buf end_of_run;
static _Noreturn void end(int how) { longjmp(end_of_run, how); }

// The values shown in the run of the library. The first `shown` of them were also shown in the run of the model.
struct item {
    enum { INTEGER, REAL, BYTES, POINTER, MEMORY, RECALLED, SUGGESTED, SUGGESTED_REAL, SUGGESTED_NOTHING } kind;
    int line;
    const char *what;
    long long integer;
    long double real;
    // The bytes start at index `integer` of `bytes`.
    size_t size;
};
static struct item items[12000];
static unsigned item_count, shown;
static char bytes[1 << 16];
static size_t byte_count;

// For the error message: the first item that the model did not show, and the one that it showed instead.
static struct {
    unsigned at;
    struct item instead;
    char text[200];
} failure;
static int talking;

static const char *print(const struct item *item, const char *data) {
    static char text[2][400];
    static int which;
    char *s = text[which ^= 1];
    switch (item->kind) {
    case REAL:
        snprintf(s, 400, "%La (%.20Lg)", item->real, item->real);
        break;
    case BYTES:
    case MEMORY:
        s += sprintf(s, "\"");
        for (size_t i = 0; i < item->size && i < 90; i++)
            s += sprintf(s, data[i] >= ' ' && data[i] < 127 ? "%c" : "\\%03o", (unsigned char)data[i]);
        sprintf(s, "\" (%zu bytes)", item->size);
        return text[which];
    default:
        sprintf(s, "%lld", item->integer);
    }
    return s;
}

// The suggestions of the run of the library at this point.
static long long suggestions[12000];
static unsigned suggested, first_suggestion;
static void take_suggestions(void) {
    for (; shown < item_count && items[shown].kind >= SUGGESTED; shown++) {
        if (items[shown].kind == SUGGESTED)
            suggestions[suggested++] = items[shown].integer;
        else if (items[shown].kind == SUGGESTED_NOTHING)
            suggested = first_suggestion = 0;
    }
}

// The choices of models. Each choice has some candidates, of which the first is the most likely. The harness tries runs
// in the order of the number of choices other than the first candidate (limited discrepancy search). After SOME_RUNS
// runs, it keeps the choices of the best run except the last ones, and tries only later choices. If MAX_RUNS_BEHIND runs
// get no further, it tries all choices again.
static struct choice {
    unsigned taken, of;
} choices[100000];
enum { MAX_RUNS = 1000000, MAX_OTHERS = 9, SOME_RUNS = 1000, MAX_RUNS_BEHIND = 20000, NEARLY = 6 };
static unsigned choice_count, choice_at, max_others;
// The number of items that the run has shown, the number of choices before each, the largest number of items shown in a
// run, and the number of choices that are kept.
static unsigned shows, choices_before[12000], furthest, kept;

// Records an item in the run of the library. In the run of the model, compares it with the item at `shown`. `data` has
// the bytes of the item, if any.
static void show(struct item item, const void *data) {
    if (!modelled) {
        if (data) {
            item.integer = byte_count;
            memcpy(bytes + byte_count, data, item.size);
            byte_count += item.size;
        }
        items[item_count++] = item;
        return;
    }
    struct item *expected = &items[shown];
    _Bool same = shown < item_count && expected->kind == item.kind && expected->line == item.line;
    if (same && item.kind == REAL)
        same = item.real != item.real ? expected->real != expected->real
                                      : item.real == expected->real && !signbit(item.real) == !signbit(expected->real);
    else if (same && data)
        same = expected->size == item.size && memcmp(bytes + expected->integer, data, item.size) == 0;
    else if (same)
        same = expected->integer == item.integer;
    if (!same) {
        if (!failure.instead.what || shown > failure.at) {
            failure.at = shown;
            failure.instead = item;
            snprintf(failure.text, sizeof failure.text, "%s", print(&item, data));
        }
        end(REJECTED);
    }
    choices_before[shows++] = choice_at;
    shown++;
    take_suggestions();
}

void show_integer(int line, const char *what, long long x) { show((struct item){INTEGER, line, what, x}, NULL); }
void show_real(int line, const char *what, long double x) { show((struct item){REAL, line, what, 0, x}, NULL); }
void show_bytes(int line, const char *what, const void *p, size_t size) {
    show((struct item){BYTES, line, what, 0, 0, size}, p);
}
void show_text(int line, const char *what, const char *s) {
    show_integer(line, what, s != NULL);
    if (s)
        show_bytes(line, what, s, strlen(s) + 1);
}

long long recall(long long x) {
    if (!modelled) {
        items[item_count++] = (struct item){RECALLED, 0, "recalled", x};
        return x;
    }
    x = items[shown++].integer;
    take_suggestions();
    return x;
}

void suggest(long long x) { items[item_count++] = (struct item){SUGGESTED, 0, "suggested", x}; }
void suggest_bytes(const void *p, size_t size) {
    for (size_t i = 0; i < size; i++)
        suggest(((const unsigned char *)p)[i]);
}
void suggest_real(long double x) { items[item_count++] = (struct item){SUGGESTED_REAL, 0, "suggested", 0, x}; }
void suggest_nothing(void) { items[item_count++] = (struct item){SUGGESTED_NOTHING, 0, "nothing suggested"}; }

// Blocks of memory, each at the end of a page, before a page that is not accessible. The end of each page is compared.
enum { ROOMS = 8, PAGE = 4096, LOOKED_AT = 512 };
static char *pages;
static char *room_of[ROOMS];
static size_t room_size[ROOMS];
static unsigned room_count;

static char *end_of_page(unsigned n) { return pages + (2 * n + 1) * PAGE; }

static void make_pages(void) {
    pages = mmap(NULL, 2 * ROOMS * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < ROOMS; i++)
        mprotect(pages + 2 * i * PAGE, PAGE, PROT_READ | PROT_WRITE);
}

void *room(size_t size) {
    if (room_count == ROOMS || size > LOOKED_AT - 32) {
        fprintf(report, "too many rooms, or too large\n");
        _exit(2);
    }
    room_size[room_count] = size;
    room_of[room_count] = end_of_page(room_count) - size;
    memset(end_of_page(room_count) - LOOKED_AT, '#', LOOKED_AT);
    return room_of[room_count++];
}

void show_pointer(int line, const char *what, const void *p) {
    long long x = p ? -2 : -1;
    for (unsigned i = 0; i < room_count; i++) {
        ptrdiff_t offset = (const char *)p - room_of[i];
        if (offset >= 0 && offset <= (ptrdiff_t)room_size[i])
            x = i * 1000 + offset;
    }
    show((struct item){POINTER, line, what, x}, NULL);
}

static void show_rooms(void) {
    for (unsigned i = 0; i < room_count; i++) {
        const char *start = end_of_page(i) - LOOKED_AT;
        show((struct item){MEMORY, i, "memory before a room", 0, 0, LOOKED_AT - room_size[i]}, start);
        show((struct item){MEMORY, i, "a room", 0, 0, room_size[i]}, room_of[i]);
    }
}

// The bytes that the library stored at the place where the model stores bytes of the environment.
static const char *left_by_library(const char *p, size_t size) {
    for (unsigned i = 0, n = 0; n < item_count; n++) {
        if (items[n].kind != MEMORY || items[n].what[0] != 'a')
            continue;
        if (p >= room_of[i] && p + size <= end_of_page(i))
            return bytes + items[n].integer + (p - room_of[i]);
        i++;
    }
    return NULL;
}

extern int *model___errno_location(void);

// The heap of models. Its blocks exist until the end of the run, and lie between bytes that must not change.
struct block {
    size_t size;
    int is_free;
    char before[16];
};
static _Alignas(4096) char heap[1 << 20];
static size_t heap_used;

static void *allocate(size_t align, size_t size) {
    size_t at = heap_used + sizeof(struct block);
    at = (at + align - 1) / align * align;
    if (align > sizeof heap || size > sizeof heap || at + size + 16 > sizeof heap)
        end(GIVEN_UP);
    struct block *block = (struct block *)(heap + at) - 1;
    block->size = size;
    block->is_free = 0;
    memset(block->before, 7, 16);
    memset(heap + at, 0xa5, size);
    memset(heap + at + size, 7, 16);
    heap_used = at + size + 16;
    return heap + at;
}

static struct block *block_of(void *p) {
    struct block *block = (struct block *)p - 1;
    char *end_of_block = (char *)p + block->size;
    if ((char *)p < heap || (char *)p >= heap + heap_used || block->is_free)
        end(CRASHED);
    for (int i = 0; i < 16; i++) {
        if (block->before[i] != 7 || end_of_block[i] != 7)
            end(CRASHED);
    }
    return block;
}

// The same behaviour as the primitives of the front-end.
void *model_malloc(size_t size) {
    if (size <= PTRDIFF_MAX)
        return allocate(16, size);
    *model___errno_location() = ENOMEM;
    return NULL;
}
void model_free(void *p) {
    if (p)
        block_of(p)->is_free = 1;
}
void release(void *p) { modelled ? model_free(p) : free(p); }

// True if the run has a taint.
static int over_approximated;

static unsigned choose(unsigned of) {
    if (choice_at == choice_count) {
        if (choice_count == sizeof choices / sizeof *choices)
            end(NO_PATH);
        choices[choice_count++] = (struct choice){0, of};
    }
    return choices[choice_at++].taken;
}

static int next_choices(void) {
    unsigned others = 0;
    choice_count = choice_at;
    for (unsigned i = kept; i < choice_count; i++)
        others += choices[i].taken > 0;
    for (; choice_count > kept; choice_count--) {
        struct choice *last = &choices[choice_count - 1];
        others -= last->taken > 0;
        if (last->taken + 1 < last->of && others < max_others) {
            last->taken++;
            return 1;
        }
    }
    return ++max_others <= MAX_OTHERS;
}

// Chooses an integer: the next suggestion, an integer that the run of the library shows later, or a small number.
static long long integer_candidate(void) {
    enum { MOST = 24 };
    long long all[MOST + 4];
    unsigned n = 0;
    _Bool suggestion = first_suggestion < suggested;
    if (suggestion)
        all[n++] = suggestions[first_suggestion];
    for (unsigned i = shown; i <= item_count + 2 && n < MOST; i++) {
        long long x = i < item_count ? items[i].integer : (long long)i - item_count - 1;
        _Bool is_integer = i >= item_count || items[i].kind == INTEGER;
        if (i < item_count && items[i].kind == BYTES) {
            x = items[i].size;
            is_integer = 1;
        }
        for (unsigned j = suggestion; j < n; j++)
            is_integer &= all[j] != x;
        if (is_integer)
            all[n++] = x;
    }
    unsigned taken = choose(n);
    first_suggestion += suggestion && taken == 0;
    return all[taken];
}

static long double real_candidate(void) {
    unsigned of = 0;
    for (unsigned i = 0; i < item_count; i++)
        of += items[i].kind == SUGGESTED_REAL || (i >= shown && items[i].kind == REAL);
    if (of == 0)
        return 0;
    unsigned taken = choose(of);
    for (unsigned i = 0;; i++) {
        if ((items[i].kind == SUGGESTED_REAL || (i >= shown && items[i].kind == REAL)) && taken-- == 0)
            return items[i].real;
    }
}

// The first candidate is true if there are suggestions, else false.
_Bool __proviso_env_bool(void) { return choose(2) ^ (first_suggestion < suggested); }
// A format may store the number of printed characters.
_Bool __proviso_counts(void) { return 1; }
void __proviso_expose(const void *address) { (void)address; }
char __proviso_env_char(void) { return integer_candidate(); }
unsigned char __proviso_env_uchar(void) { return integer_candidate(); }
int __proviso_env_int(void) { return integer_candidate(); }
long __proviso_env_long(void) { return integer_candidate(); }
// A descriptor that is not used in the model, or any number.
static int descriptors;
int __proviso_env_descriptor(void) { return choose(2) ? integer_candidate() : 3 + descriptors++; }
long long __proviso_env_longlong(void) { return integer_candidate(); }
size_t __proviso_env_size(void) { return integer_candidate(); }
float __proviso_env_float(void) { return real_candidate(); }
double __proviso_env_double(void) { return real_candidate(); }
long double __proviso_env_longdouble(void) { return real_candidate(); }
void __proviso_env_memory(void *p, size_t size) {
    const char *left = left_by_library(p, size);
    unsigned of = left != NULL;
    for (unsigned i = shown; i < item_count; i++)
        of += items[i].kind == BYTES;
    if (first_suggestion < suggested) {
        choose(1);
        for (size_t i = 0; i < size; i++)
            ((char *)p)[i] = first_suggestion < suggested ? suggestions[first_suggestion++] : 0;
        return;
    }
    unsigned taken = choose(of ? of : 1), i = shown;
    if (left && taken-- == 0) {
        memcpy(p, left, size);
        return;
    }
    memset(p, 0, size);
    for (; i < item_count; i++) {
        if (items[i].kind == BYTES && taken-- == 0) {
            memcpy(p, bytes + items[i].integer, size < items[i].size ? size : items[i].size);
            return;
        }
    }
}

// The other primitives.
void *__proviso_scratch(size_t size) { return allocate(16, size); }
void __proviso_drop(void *p) { model_free(p); }
void *__proviso_alloc_zeroed(size_t size) { return memset(allocate(16, size), 0, size); }
void *__proviso_make_zeroed(size_t size) { return __proviso_alloc_zeroed(size); }
void *__proviso_make_text(size_t size) {
    void *p = allocate(1, size);
    __proviso_env_memory(p, size);
    return p;
}
void *__proviso_alloc_mapping(size_t size) { return memset(allocate(4096, size), 0, size); }
void *__proviso_make_mapping(size_t size) { return __proviso_alloc_mapping(size); }
void __proviso_free_mapping(void *p) { model_free(p); }
#define FAMILY(family)                                                                                               \
    void *__proviso_alloc_##family(size_t size) { return allocate(16, size); }                                       \
    void *__proviso_make_##family(size_t size) { return allocate(16, size); }                                        \
    void __proviso_free_##family(void *p) { model_free(p); }
FAMILY(malloc)
FAMILY(stream)
FAMILY(directory)
FAMILY(address_list)
FAMILY(tree_node)
FAMILY(hash_table)
FAMILY(regex)
FAMILY(locale)
FAMILY(internal)
void *__proviso_alloc_aligned(size_t align, size_t size) { return allocate(align < 16 ? 16 : align, size); }
/* Allocations fail only with the option --malloc-may-fail. */
_Bool __proviso_allocation_fails(void) { return 0; }
size_t __proviso_object_size(void *p) { return block_of(p)->size; }
size_t __proviso_malloc_size(void *p) { return block_of(p)->size; }
// Called for pointers that are freed.
size_t __proviso_object_offset(void *p) { return 0; }
void __proviso_unmodelled(const char *what) { end(GIVEN_UP); }
void __proviso_underapproximated(const char *what) { end(GIVEN_UP); }
// No signal arrives.
void __proviso_handler(int signal, void *handler) {}
void __proviso_unknown_format(const char *what) { end(GIVEN_UP); }
void __proviso_overapproximated(const char *what) { over_approximated = 1; }
void __proviso_assume(int condition) {
    if (!condition)
        end(NO_PATH);
}
void __proviso_assume_optionally(int condition) { __proviso_assume(condition); }
void __proviso_exit(int status) { end(ABORTED); }
void __proviso_abort(void) { end(ABORTED); }

static void on_signal(int signal) { end(signal == SIGABRT ? ABORTED : CRASHED); }

// The rounding mode in models. Their own computations round to nearest.
static unsigned model_mode;
unsigned __proviso_rounding(void) { return model_mode; }
void __proviso_set_rounding(unsigned mode) { model_mode = mode; }

// The variables of the models. They have their initial values at the start of each run.
extern char __start_model_data[] __attribute__((weak)), __stop_model_data[] __attribute__((weak));
extern char __start_model_bss[] __attribute__((weak)), __stop_model_bss[] __attribute__((weak));
static char *initial_data;

static void reset_models(void) {
    size_t data = __stop_model_data - __start_model_data, bss = __stop_model_bss - __start_model_bss;
    if (!initial_data)
        initial_data = memcpy(malloc(data + 1), __start_model_data, data);
    memcpy(__start_model_data, initial_data, data);
    memset(__start_model_bss, 0, bss);
    heap_used = model_mode = descriptors = 0;
}

// Random inputs: splitmix64.
static uint64_t seed, state;
uint64_t random_bits(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static int may_be_approximated, may_ask;
void may_approximate(void) { may_be_approximated = 1; }
void asks_environment(void) { may_ask = 1; }

void say(const char *format, ...) {
    if (talking) {
        va_list args;
        va_start(args, format);
        fprintf(report, "  ");
        vfprintf(report, format, args);
        fprintf(report, "\n");
        va_end(args);
    }
}

// Runs a driver once. Returns the end of the run.
static int run(struct driver *driver, uint64_t call, int with_model) {
    modelled = with_model;
    state = seed + call * 0x632be59bd9b4e019;
    room_count = shown = shows = choice_at = suggested = first_suggestion = 0;
    over_approximated = may_be_approximated = may_ask = 0;
    if (!modelled)
        item_count = byte_count = choice_count = max_others = furthest = kept = 0;
    int how = setjmp(end_of_run);
    if (how == 0) {
        if (modelled) {
            reset_models();
            take_suggestions();
        }
        LIB_ERRNO = ONE_OF(0, 0, 11, ERANGE);
        driver->run();
        see(LIB_ERRNO);
    }
    if (how == 0 || how == ABORTED) {
        int again = setjmp(end_of_run);
        if (again)
            return again;
        show_integer(0, "how it ends", how);
        show_rooms();
    }
    return how;
}

static struct {
    long exact, approximated, given_up;
} count;

static const char *const endings[] = {"done", "another", "abort", "a crash", "no path", "given up"};

// Checks that the model permits the behaviour of the library.
static int compare(struct driver *driver, uint64_t call) {
    int how = run(driver, call, 0);
    if (how != DONE && how != ABORTED) {
        fprintf(report, "%s: the library: %s\n", driver->name, endings[how]);
        return 0;
    }
    failure.instead.what = NULL;
    failure.at = 0;
    const char *trouble = "excludes the behaviour of the library";
    int runs = 0, runs_behind = 0;
    for (;; runs++) {
        how = run(driver, call, 1);
        if (how == GIVEN_UP) {
            count.given_up++;
            return 1;
        }
        if (how == CRASHED)
            trouble = "crashes";
        if (how == DONE || how == ABORTED) {
            _Bool exact = !choice_at && !over_approximated;
            count.exact += exact;
            count.approximated += !exact;
            if (exact || may_ask || (may_be_approximated && over_approximated))
                return 1;
            trouble = may_be_approximated ? "makes a choice without a taint" : "is not exact";
            break;
        }
        if (runs == MAX_RUNS) {
            trouble = "did not show the behaviour of the library (not all of its runs were tried)";
            break;
        }
        if (runs >= SOME_RUNS && furthest < shows && runs_behind < MAX_RUNS_BEHIND) {
            furthest = shows;
            choice_count = kept = shows < NEARLY ? 0 : choices_before[shows - NEARLY];
            max_others = runs_behind = 0;
        } else if (kept > 0 && ++runs_behind == MAX_RUNS_BEHIND) {
            choice_count = kept = max_others = 0;
        } else if (!next_choices()) {
            if (kept == 0)
                break;
            choice_count = kept = max_others = 0;
            runs_behind = MAX_RUNS_BEHIND;
        }
    }
    fprintf(report, "%s: the model %s (call %llu, %d runs, %u others)\n", driver->name, trouble, (unsigned long long)call, runs, max_others);
    if (failure.instead.what) {
        struct item *expected = &items[failure.at];
        fprintf(report, "  line %d: %s: %s", expected->line, expected->what, print(expected, bytes + expected->integer));
        fprintf(report, ", model (line %d: %s): %s\n", failure.instead.line, failure.instead.what, failure.text);
    }
    talking = 1;
    run(driver, call, 0);
    if (getenv("PROVISO_TEST_CALL")) {
        for (unsigned i = 0; i < item_count; i++)
            fprintf(report, "  shown %d:%d: %s %s\n", items[i].kind, items[i].line, items[i].what, print(&items[i], bytes + items[i].integer));
    }
    talking = 0;
    return 0;
}

// Prints the run of the library for the interpreter.
static void print_run(struct driver *driver, uint64_t call) {
    fprintf(report, "run %s %llu\n", driver->name, (unsigned long long)(seed + call * 0x632be59bd9b4e019));
    for (unsigned i = 0; i < item_count; i++) {
        struct item *item = &items[i];
        if (item->kind == MEMORY && item->what[0] != 'a')
            continue;
        switch (item->kind) {
        case REAL:
        case SUGGESTED_REAL: {
            long double real = item->real != item->real ? __builtin_nanl("") : item->real;
            union {
                long double value;
                struct {
                    uint64_t fraction;
                    uint16_t exponent;
                } bits;
            } u = {real};
            double wide = real;
            float narrow = real;
            uint64_t wide_bits;
            uint32_t narrow_bits;
            memcpy(&wide_bits, &wide, 8);
            memcpy(&narrow_bits, &narrow, 4);
            fprintf(report, "%c %llu %u %llu %u\n", item->kind == REAL ? 'r' : 'R', (unsigned long long)u.bits.fraction, u.bits.exponent,
                   (unsigned long long)wide_bits, narrow_bits);
            break;
        }
        case BYTES:
        case MEMORY:
            fprintf(report, "b ");
            for (size_t n = 0; n < item->size; n++)
                fprintf(report, "%02x", (unsigned char)bytes[item->integer + n]);
            fprintf(report, "\n");
            break;
        case SUGGESTED_NOTHING:
            fprintf(report, "n\n");
            break;
        default:
            fprintf(report, "%c %lld\n", item->kind == SUGGESTED ? 's' : 'i', item->integer);
        }
    }
}

// Arguments: the seed, the number of calls, `compare` or `print`, and names of drivers (by default all).
int main(int argc, char **argv) {
    seed = strtoull(argv[1], NULL, 10);
    uint64_t calls = strtoull(argv[2], NULL, 10);
    make_pages();
    report = fdopen(dup(1), "w");
    setvbuf(report, NULL, _IOLBF, 4096);
    freopen("/dev/null", "w", stdout);
    freopen("/dev/null", "w", stderr);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER | SA_ONSTACK};
    static char stack[1 << 16];
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
    int failures = 0;
    uint64_t first_call = getenv("PROVISO_TEST_CALL") ? strtoull(getenv("PROVISO_TEST_CALL"), NULL, 10) : 0;
    for (unsigned i = 0; i < driver_count; i++) {
        _Bool wanted = argc == 4;
        for (int n = 4; n < argc; n++)
            wanted |= strcmp(argv[n], drivers[i].name) == 0;
        if (!wanted)
            continue;
        memset(&count, 0, sizeof count);
        for (uint64_t call = first_call; call < first_call + calls; call++) {
            if (argv[3][0] == 'p') {
                run(&drivers[i], call, 0);
                print_run(&drivers[i], call);
            } else if (!compare(&drivers[i], call)) {
                failures++;
                break;
            }
        }
        if (argv[3][0] != 'p')
            fprintf(report, "%-16s %ld exact, %ld approximated, %ld not modelled\n", drivers[i].name, count.exact,
                   count.approximated, count.given_up);
    }
    return failures != 0;
}
