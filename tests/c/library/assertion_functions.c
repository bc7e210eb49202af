// All functions that a failed assertion calls in some C library count as failed assertions, unless the program defines them.
// run: --check default => TRUE
// run: --check default -DFAILS=1 => FALSE(unreach-call)
// run: --check default -DFAILS=2 => FALSE(unreach-call)
// run: --check default -DFAILS=3 => FALSE(unreach-call)
// run: --check default -DFAILS=4 => FALSE(unreach-call)
// run: --check default -DFAILS=5 => FALSE(unreach-call)
// run: --property unreach-call -DFAILS=1 => FALSE(unreach-call)
// run: --property unreach-call -DFAILS=6 => TRUE
// native: unseen
#define _GNU_SOURCE
#include "../verify.h"
#include <assert.h>

extern void __assert_rtn(const char *, const char *, int, const char *) __attribute__((noreturn));
extern void __assert_func(const char *, int, const char *, const char *) __attribute__((noreturn));
extern void _assert(const char *, const char *, unsigned);
#ifndef FAILS
#define FAILS 0
#endif
#if FAILS == 6
void _assert(const char *what, const char *file, unsigned line) {}
#endif

int main(void) {
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n >= 0 && n < 9);
    if (n == 9)
        __assert("n", __FILE__, __LINE__);
    assert_perror(FAILS == 1 ? n : 0); // wrong
#if FAILS == 2
    if (n == 3)
        __assert("n", __FILE__, __LINE__); // wrong
#elif FAILS == 3
    if (n == 3)
        __assert_rtn("main", __FILE__, __LINE__, "n"); // wrong
#elif FAILS == 4
    if (n == 3)
        __assert_func(__FILE__, __LINE__, "main", "n"); // wrong
#elif FAILS == 5 || FAILS == 6
    if (n == 3)
        _assert("n", __FILE__, __LINE__); // wrong
#endif
    return 0;
}
