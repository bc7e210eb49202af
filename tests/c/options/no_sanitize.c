// Attributes exempt functions from clang's sanitizers, in several spellings. Enabled checks are made nevertheless.
// run: --property no-overflow -DEXEMPT=1 => FALSE(no-overflow)
// run: --property no-overflow -DEXEMPT=2 => FALSE(no-overflow)
// run: --property no-overflow -DEXEMPT=3 => FALSE(no-overflow)
// run: --property no-overflow -DEXEMPT=4 => FALSE(no-overflow)
// run: --property no-overflow -DEXEMPT=5 => FALSE(no-overflow)
// run: --property no-overflow -DEXEMPT=6 => FALSE(no-overflow)
// run: --property no-overflow -DEXEMPT=7 => FALSE(no-overflow)
// run: --check signed-integer-overflow -DEXEMPT=1 => FALSE(signed-integer-overflow)
// run: --property no-overflow -DEXEMPT=1 -DLEAST=0 => TRUE
// native: unseen
#include "../verify.h"
#ifndef LEAST
#define LEAST -3
#endif
#if !__has_attribute(no_sanitize) || !__has_c_attribute(clang::no_sanitize)
#error "clang has the attribute"
#endif
#define JOIN(a, b) a##b

#if EXEMPT == 1
#define EXEMPTED __attribute__((no_sanitize("undefined")))
#elif EXEMPT == 2
#define EXEMPTED __attribute__((cold, __no_sanitize__("signed-integer-overflow", "shift"), noinline))
#elif EXEMPT == 3
#define EXEMPTED [[clang::no_sanitize("all")]]
#elif EXEMPT == 4
#pragma clang attribute push(__attribute__((no_sanitize("undefined"))), apply_to = function)
#define EXEMPTED
#elif EXEMPT == 5
#define EXEMPTED __attribute__((JOIN(no_sa, nitize)("undefined")))
#elif EXEMPT == 6
_Pragma("clang attribute push([[clang::no_sanitize(\"undefined\")]], apply_to = function)")
#define EXEMPTED
#elif EXEMPT == 7
#define EXEMPTED __attribute__((disable_sanitizer_instrumentation, no_sanitize_undefined, no_sanitize("integer", "undefined")))
#endif

static int less(int n)
    __attribute__((cold, no_sanitize("shift",
                                     "null")));
EXEMPTED static int less(int n) {
    return n - 2147483646; // wrong
}
#if EXEMPT == 4 || EXEMPT == 6
#pragma clang attribute pop
#endif

// The name may have another meaning.
static int no_sanitize(const char *what) {
    return what[0];
}

int main(void) {
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n >= LEAST);
    return less(n) == 9 && no_sanitize("undefined") != 'u';
}
