// Drivers for functions of the C library. Each driver runs twice on the same inputs: with the library, and with the
// models.
//
// A driver creates random inputs, calls functions through LIB(name), and shows everything that a program can observe:
// results, output parameters, `errno`, memory. The harness records the values that the driver shows with the library.
// With the model, it must show the same values for *some* choices of the model (`__proviso_env_*`), for which the
// harness searches. This detects a model that excludes a behaviour of the library, in its result or in any other effect.
//
// The same drivers run in two ways:
// - natively: the names of the models get the prefix `model_`, and they are linked together with the library
//   (harness.c);
// - in Proviso's interpreter (INTERPRETED): LIB(name) is the name itself, as in any program, and the values that the
//   library showed are inputs (interpreted.h).
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

// The function or variable with this name, of the library or of the model.
#ifdef INTERPRETED
enum { modelled = 1 };
#define LIB(f) (f)
#else
extern int modelled;
#define LIB(f) (*({ extern __typeof__(f) model_##f; modelled ? &model_##f : &(f); }))
#endif

// DRIVER(name) { ... } defines a driver. Its name is that of the tested function or group of functions.
#define DRIVER(name)                                                                                                 \
    static void drive_##name(void);                                                                                  \
    __attribute__((constructor)) static void enlist_##name(void) { enlist(#name, drive_##name); }                    \
    static void drive_##name(void)
void enlist(const char *name, void (*run)(void));

// A model must be exact (without choices and taints) unless the driver calls one of these functions: the model may
// approximate, with a taint; or it may make choices for the environment.
void may_approximate(void);
void asks_environment(void);

// Inputs, which are the same in all runs of a driver.
uint64_t random_bits(void);
// A number from 0 to `bound` - 1.
unsigned random_below(unsigned bound);
// A small number, a number near a power of two, or any number.
int64_t random_integer(void);
float random_float(void);
double random_double(void);
long double random_longdouble(void);
// One of the arguments.
#define ONE_OF(...)                                                                                                  \
    ({                                                                                                               \
        static __typeof__((__VA_ARGS__)) const all[] = {__VA_ARGS__};                                                \
        all[random_below(sizeof all / sizeof *all)];                                                                 \
    })

// A block of memory. The library and the model must not write outside it or read after its end. The harness shows its
// content at the end of the run. A run may have at most 8 blocks, each of at most 480 bytes.
void *room(size_t size);
// A random string in a block of its size; a random string in a larger block, which is filled with '#'.
char *random_string(unsigned max, const char *alphabet);
char *random_string_in(size_t size, unsigned max, const char *alphabet);
char *text_in_room(const char *text);

// Shows a value that a program can observe.
#define see(x) show_integer(__LINE__, #x, (long long)(x))
#define see_real(x) show_real(__LINE__, #x, x)
// Shows a pointer: null, or its offset in a block. All other pointers are equal.
#define see_pointer(p) show_pointer(__LINE__, #p, p)
#define see_bytes(p, size) show_bytes(__LINE__, #p, p, size)
#define see_text(s) show_text(__LINE__, #s, s)
void show_integer(int line, const char *what, long long x);
void show_real(int line, const char *what, long double x);
void show_pointer(int line, const char *what, const void *p);
void show_bytes(int line, const char *what, const void *p, size_t size);
// Null differs from all strings.
void show_text(int line, const char *what, const char *s);
// The harness shows `errno` at the end of each run, and a driver may show it at any time. It has one of several initial
// values.
#define LIB_ERRNO (*LIB(__errno_location)())

// NATIVELY statement: executes the statement only in the run of the library, without an effect on `errno`.
#define NATIVELY for (int once = !modelled, errno_before = errno; once; once = 0, errno = errno_before)
// Gives a value from the run of the library in all runs. Drivers use it for facts about the real environment.
#define RECALL(x) recall(modelled ? 0 : (long long)(x))
long long recall(long long x);
// Called in the run of the library. Suggests choices for the model after the values shown so far: an integer, or each of
// some bytes. The harness tries suggestions before the values that follow.
void suggest(long long x);
void suggest_bytes(const void *p, size_t size);
void suggest_nothing(void);
// Suggests a floating-point number for all choices.
void suggest_real(long double x);

// Describes the call for error messages.
void say(const char *format, ...);

// Frees memory that a function has allocated.
void release(void *p);
