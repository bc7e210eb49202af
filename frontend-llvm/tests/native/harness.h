// Drivers for functions of the C library, each run twice on the same inputs: with the library, and with the models.
//
// A driver makes random inputs, calls functions through LIB(name), and shows all that a program could see: results,
// output parameters, `errno`, memory. What it shows with the library is written down. With the model it must show the
// same for *some* outcome of what the model leaves open (`__proviso_env_*`): the harness searches for one. So a model
// that excludes something that happens is found, whether in its result or in any other effect.
//
// The same drivers run in two ways:
// - natively: the models are compiled with their names prefixed by `model_` and linked beside the library (harness.c);
// - in Proviso's interpreter (INTERPRETED): LIB(name) is the name, as in any program, and what the library showed
//   comes in as inputs (interpreted.h).
#pragma once
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A function or a variable by its name: the library's, or the model's.
#ifdef INTERPRETED
enum { modelled = 1 };
#define LIB(f) (f)
#else
extern int modelled;
#define LIB(f) (*({ extern __typeof__(f) model_##f; modelled ? &model_##f : &(f); }))
#endif

// DRIVER(name) { ... } is a driver; what it tests is in its name.
#define DRIVER(name)                                                                                                 \
    static void drive_##name(void);                                                                                  \
    __attribute__((constructor)) static void enlist_##name(void) { enlist(#name, drive_##name); }                    \
    static void drive_##name(void)
void enlist(const char *name, void (*run)(void));

// A model must be exact (leave nothing open, carry no taint) unless the driver says one of these: that it may be
// approximated, with a taint; that it asks the environment.
void may_approximate(void);
void asks_environment(void);

// Inputs, the same in all runs of a driver.
uint64_t random_bits(void);
// From 0 to `bound` - 1.
unsigned random_below(unsigned bound);
// Small numbers, numbers near powers of two, any.
int64_t random_integer(void);
float random_float(void);
double random_double(void);
long double random_longdouble(void);
// One of these.
#define ONE_OF(...)                                                                                                  \
    ({                                                                                                               \
        static __typeof__((__VA_ARGS__)) const all[] = {__VA_ARGS__};                                                \
        all[random_below(sizeof all / sizeof *all)];                                                                 \
    })

// A block of memory outside which neither the library nor the model may write, and behind which neither may read. Its
// content is shown at the end of the run. At most 8 in a run, of at most 480 bytes.
void *room(size_t size);
// A string in a room of its own size, and one with more room behind it, filled with '#'.
char *random_string(unsigned max, const char *alphabet);
char *random_string_in(size_t size, unsigned max, const char *alphabet);
char *text_in_room(const char *text);

// What a program sees.
#define see(x) show_integer(__LINE__, #x, (long long)(x))
#define see_real(x) show_real(__LINE__, #x, x)
// A pointer into a room or null; of others only that they are others.
#define see_pointer(p) show_pointer(__LINE__, #p, p)
#define see_bytes(p, size) show_bytes(__LINE__, #p, p, size)
#define see_text(s) show_text(__LINE__, #s, s)
void show_integer(int line, const char *what, long long x);
void show_real(int line, const char *what, long double x);
void show_pointer(int line, const char *what, const void *p);
void show_bytes(int line, const char *what, const void *p, size_t size);
// Null is told from strings.
void show_text(int line, const char *what, const char *s);
// `errno` is shown at the end of each run, and where a driver wants to. It starts as one of several values.
#define LIB_ERRNO (*LIB(__errno_location)())

// NATIVELY statement: only in the library's run, and without an effect on `errno`.
#define NATIVELY for (int once = !modelled, errno_before = errno; once; once = 0, errno = errno_before)
// A value of the library's run, in all runs: what a driver needs to know of the real environment.
#define RECALL(x) recall(modelled ? 0 : (long long)(x))
long long recall(long long x);
// In the library's run, says what the model may take from the environment after what has been shown so far: an
// integer, or each of some bytes. It is tried before what is still to be shown.
void suggest(long long x);
void suggest_bytes(const void *p, size_t size);
void suggest_nothing(void);
// A floating-point number that it may take at any time.
void suggest_real(long double x);

// Describes the call, for the message if something is wrong.
void say(const char *format, ...);

// Memory that a function has allocated.
void release(void *p);
