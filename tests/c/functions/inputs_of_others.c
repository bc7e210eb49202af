// Input functions of programs that were written for CBMC and ESBMC.
#include "../verify.h"

int nondet_int();
_Bool nondet_bool(void);
unsigned char nondet_uchar(void);

int main(void) {
    int x = nondet_int();
    unsigned char c = nondet_uchar();
    if (nondet_bool() && x > 100 && x < 200) {
#ifdef BUG
        check(x + c != 300); // wrong
#else
        check(x + c < 455);
#endif
    }
    return 0;
}
