#include "harness.h"
#include <malloc.h>

int approximated, scripted, script_int;
long double script;
jmp_buf no_path;
long comparisons;

static uint64_t state;

// splitmix64.
uint64_t random_bits(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

unsigned random_below(unsigned bound) { return random_bits() % bound; }

void mismatch(const char *file, int line, const char *format, ...) {
    va_list args;
    va_start(args, format);
    printf("%s:%d: ", file, line);
    vprintf(format, args);
    printf("\n");
    exit(1);
}

// The primitives.
void *__proviso_alloc(size_t size) { return malloc(size); }
void *__proviso_alloc_zeroed(size_t size) { return calloc(1, size); }
void *__proviso_alloc_aligned(size_t align, size_t size) { return aligned_alloc(align, size); }
void __proviso_free(void *ptr) { free(ptr); }
size_t __proviso_object_size(void *ptr) { return malloc_usable_size(ptr); }
_Bool __proviso_env_bool(void) { return random_bits() & 1; }
char __proviso_env_char(void) { return random_bits(); }
unsigned char __proviso_env_uchar(void) { return random_bits(); }
int __proviso_env_int(void) { return scripted ? script_int : (int)random_bits(); }
long __proviso_env_long(void) { return random_bits(); }
long long __proviso_env_longlong(void) { return random_bits(); }
size_t __proviso_env_size(void) { return random_bits() % 100; }
float __proviso_env_float(void) { return script; }
double __proviso_env_double(void) { return script; }
long double __proviso_env_longdouble(void) { return script; }
void __proviso_env_memory(void *ptr, size_t size) {
    for (size_t i = 0; i < size; i++)
        ((char *)ptr)[i] = random_bits();
}
void __proviso_unmodelled(const char *what) { approximated = 1; }
void __proviso_overapproximated(const char *what) { approximated = 1; }
void __proviso_underapproximated(const char *what) { approximated = 1; }
void __proviso_assume(int condition) {
    if (!condition)
        longjmp(no_path, 1);
}
void __proviso_exit(int status) { exit(status); }
void __proviso_abort(void) { longjmp(no_path, 2); }

int main(int argc, char **argv) {
    state = strtoull(argv[1], NULL, 10);
    test();
    printf("%ld comparisons\n", comparisons);
    return 0;
}
