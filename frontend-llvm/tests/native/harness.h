// Compares models with the C library natively: the models are compiled with their names prefixed by `model_`, and
// with primitives that are defined here.
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int *model___errno_location(void);

// Set by the primitives that say what is not exact.
extern int approximated;
// What `__proviso_env_double` and its like give.
extern long double script;
// What `__proviso_env_int` gives if `scripted`; otherwise it is random.
extern int scripted, script_int;
// An assumption that does not hold goes here.
extern jmp_buf no_path;
// The number of comparisons so far.
extern long comparisons;

uint64_t random_bits(void);
// From 0 to `bound` - 1.
unsigned random_below(unsigned bound);
void mismatch(const char *file, int line, const char *format, ...);

#define EXPECT(condition, ...)                                                                                       \
    do {                                                                                                             \
        comparisons++;                                                                                               \
        if (!(condition))                                                                                            \
            mismatch(__FILE__, __LINE__, __VA_ARGS__);                                                               \
    } while (0)

// Clears both error numbers and what was approximated.
#define START (errno = *model___errno_location() = approximated = 0)
#define SAME_ERRNO EXPECT(errno == *model___errno_location(), "errno %d, model %d", errno, *model___errno_location())

void test(void);
