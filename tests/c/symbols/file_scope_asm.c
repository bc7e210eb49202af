// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: -DALIAS => FALSE(unreach-call)
// run: -DALIAS --property unreach-call --slicing off => FALSE(unreach-call)
// run: -DFUNCTION => FALSE(unreach-call)
// run: -DLOCAL => FALSE(unreach-call)
// run: -DEXPORTED => UNKNOWN
// run: -DCODE => UNKNOWN
// run: -DLOADER => UNKNOWN
// Assembly at file scope may give symbols second names, which are modelled. It may define other symbols and run:
// nothing is known then. Some directives do neither.
#include "../verify.h"

int v = 1;
extern int alias_v;
int seven(void);
void set(void) { v = 5; }

__asm__(".ident \"a; .set v, 3\"\n# .globl w");
__asm__(".symver realpath, realpath@GLIBC_2.2.5; .section .note.GNU-stack,\"\",@progbits\n.text");
#ifdef ALIAS
__asm__(".globl alias_v\n.set alias_v, v");
#elif defined FUNCTION
extern void alias_set(void);
__asm__(".weak alias_set\nalias_set = second; second = set");
#elif defined LOCAL
static int hidden = 1;
__asm__(".equ alias_v, hidden");
#elif defined EXPORTED
static int hidden = 1;
__asm__(".globl hidden");
#elif defined CODE
__asm__(".text\n.globl seven\nseven: mov $7, %eax\n ret");
#elif defined LOADER
__asm__(".section .init_array,\"aw\"\n.quad set\n.text");
#endif

int main(void) {
#ifdef ALIAS
    alias_v = 5;
#elif defined FUNCTION
    alias_set();
#elif defined LOCAL
    alias_v = 5;
    v = hidden;
#elif defined EXPORTED
    v = hidden;
#elif defined CODE
    v = seven() == 7 ? 5 : 1;
#endif
    check(v != 5); // wrong with a second name
    wrong(__VERIFIER_nondet_int() != 3);
    return 0;
}
