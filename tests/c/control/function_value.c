// A variable that is a function pointer, for every analysis.
// run: --property unreach-call => TRUE
// run: --property unreach-call -DBUG => FALSE(unreach-call)
// run: --property unreach-call --analysis value-interval => TRUE
// run: --property unreach-call --analysis value-interval -DBUG => FALSE(unreach-call)
// run: --property unreach-call --analysis k-induction -DBUG => FALSE(unreach-call)
#include "../verify.h"

static int one(int *p) { return *p + 1; }

static void reads(int amount) {
    wrong(amount != 77);
}

int main(void) {
    static int first;
    int (*operation)(int *) = one;
    for (int i = 0; i < 3; i++) {
        reads(__VERIFIER_nondet_int());
        check(operation(&first) == 1);
    }
    return 0;
}
