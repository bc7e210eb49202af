// Functions with variable arguments, called through pointers without prototypes: the position of the variable arguments
// depends on the callee.
// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: --check address => TRUE
// run: --32 => TRUE
#include <stdarg.h>
#include "../verify.h"

static int plain(int a, int b, int c) {
    return a + b + c;
}

static int behind_one(int n, ...) {
    va_list list;
    va_start(list, n);
    int first = va_arg(list, int);
    long double second = va_arg(list, long double);
    va_end(list);
    return first == 2 && second == 3.5L ? n : -1;
}

static int behind_two(int n, int first, ...) {
    va_list list;
    va_start(list, first);
    long double second = va_arg(list, long double);
    va_end(list);
    return first == 2 && second == 3.5L ? n + 1 : -1;
}

int main(void) {
    int (*any)() = (int (*)())plain;
    if (any(1, 2, 3) != 6)
        reach_error();
    int which = __VERIFIER_nondet_int();
    any = which ? (int (*)())behind_one : (int (*)())behind_two;
    int result = any(1, 2, 3.5L);
#ifdef BUG
    if (result == 2)
        reach_error(); // wrong
#else
    if (result != (which ? 1 : 2))
        reach_error();
#endif
    return 0;
}
