// Defines: assert __VERIFIER_assert
#pragma once
#include "proviso.h"

// Assertions in a program that does not include <assert.h>, or that expects a verifier to define one. It then calls a
// function that no library has.

extern void __assert_fail(const char *what, const char *file, unsigned line, const char *function);

void assert(long holds) {
    if (!holds)
        __assert_fail("", "", 0, "");
}

void __VERIFIER_assert(int holds) {
    if (!holds)
        __assert_fail("", "", 0, "");
}
