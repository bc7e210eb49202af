// run: --std c11 => TRUE
// run: --std c11 -DBUG => FALSE(unreach-call)
#include "../verify.h"

#define kind(x) _Generic((x), int: 1, long: 2, float: 3, char *: 4, default: 0)
_Static_assert(sizeof(int) == 4, "int has four bytes");

int main(void) {
    check(kind(1) == 1 && kind(1L) == 2 && kind(1.0f) == 3 && kind("s") == 4 && kind(1.0) == 0);
    _Alignas(64) char c = __VERIFIER_nondet_char();
    check(((unsigned long)&c & 63) == 0 && _Alignof(int) == 4);
    __typeof__(c + 0) wide = c;
    check(sizeof wide == 4);
    wrong(wide != -100);
    return 0;
}
