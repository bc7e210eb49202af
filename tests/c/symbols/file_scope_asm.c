// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: -DALIAS => UNKNOWN
// run: -DCODE => UNKNOWN
// run: -DLOADER => UNKNOWN
// Assembly at file scope may define symbols and run, so there is no verdict. Some directives do neither.
#include "../verify.h"

int v = 1;
extern int alias_v;
int seven(void);
void set(void) { v = 5; }

__asm__(".ident \"a; .set v, 3\"\n# .globl w");
__asm__(".symver realpath, realpath@GLIBC_2.2.5; .section .note.GNU-stack,\"\",@progbits\n.text");
#ifdef ALIAS
__asm__(".globl alias_v\n.set alias_v, v");
#elif defined CODE
__asm__(".text\n.globl seven\nseven: mov $7, %eax\n ret");
#elif defined LOADER
__asm__(".section .init_array,\"aw\"\n.quad set\n.text");
#endif

int main(void) {
#ifdef ALIAS
    alias_v = 5;
#elif defined CODE
    v = seven() == 7 ? 5 : 1;
#endif
    check(v != 5);
    wrong(__VERIFIER_nondet_int() != 3);
    return 0;
}
