// Defines: assert
#pragma once
#include "proviso.h"

// The assertion of a program that does not include <assert.h>, and so calls a function that no library has.

extern void __assert_fail(const char *what, const char *file, unsigned line, const char *function);

void assert(long holds) {
    if (!holds)
        __assert_fail("", "", 0, "");
}
