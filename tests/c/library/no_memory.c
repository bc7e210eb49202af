// run: --malloc-may-fail -DWHAT=1 => FALSE(unreach-call)
// run: --malloc-may-fail -DWHAT=2 => FALSE(unreach-call)
// run: --malloc-may-fail -DWHAT=3 => FALSE(unreach-call)
// run: --malloc-may-fail -DWHAT=4 => FALSE(unreach-call)
// run: --malloc-may-fail -DWHAT=5 => FALSE(unreach-call)
// run: --malloc-may-fail -DWHAT=7 => TRUE
// run: --malloc-may-fail -DWHAT=8 => TRUE
// run: --malloc-may-fail -DWHAT=9 => TRUE
// run: -DWHAT=1 => TRUE
// run: -DWHAT=2 => TRUE
// run: -DWHAT=3 => TRUE
// run: -DWHAT=4 => TRUE
// run: -DWHAT=5 => TRUE
// If allocation may fail, library functions that allocate fail as their manuals describe, and others do not.
#define _GNU_SOURCE
#include "../verify.h"
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void handler(void) {}

static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void) {
    if (WHAT == 1)
        check(setenv("NAME", "value", 1) == 0); // wrong
    if (WHAT == 2) {
        int one = 1;
        void *tree = NULL;
        check(tsearch(&one, &tree, order)); // wrong
    }
    if (WHAT == 3)
        check(hcreate(5)); // wrong
    if (WHAT == 4) {
        for (int i = 0; i < 33; i++)
            check(atexit(handler) == 0); // wrong
    }
    if (WHAT == 5) {
        char *text;
        check(asprintf(&text, "%d", 5) == 1); // wrong
    }
    // This number of handlers always fits.
    if (WHAT == 7) {
        for (int i = 0; i < 32; i++)
            check(atexit(handler) == 0);
    }
    // An existing variable needs no room in the table, and nothing changes if setenv fails.
    if (WHAT == 8) {
        if (setenv("NAME", "value", 1) == 0) {
            check(putenv("NAME=other") == 0);
            check(setenv("NAME", "a third", 1) == 0 || strcmp(getenv("NAME"), "other") == 0);
        }
    }
    // Nothing is allocated.
    if (WHAT == 9) {
        char text[10];
        check(snprintf(text, sizeof text, "%d", 5) == 1);
        check(unsetenv("NAME") == 0);
        check(setvbuf(stdout, NULL, _IONBF, 0) == 0);
    }
    return 0;
}
