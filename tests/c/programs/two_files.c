// run: two_files_other.inc.c => TRUE
// run: two_files_other.inc.c -DBUG => FALSE(unreach-call)
#include "../verify.h"

extern int shared;
extern int other(int);
static int local(int x) { return x + 1; }

int main(void) {
    int x = __VERIFIER_nondet_schar();
    check(other(x) == x + 2 && local(x) == x + 1);
    check(shared == 2);
    wrong(other(x) != 99);
    return 0;
}
