// Three components: when one decreases, the following ones may restart with any value.
// run: --property termination => TRUE
// run: --property termination -DLAST=0 => FALSE(termination)
// ranks: 3
extern int __VERIFIER_nondet_int(void);
#ifndef LAST
#define LAST 1
#endif

int main(void) {
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int(), c = __VERIFIER_nondet_int();
    while (a > 0 && b > 0 && c >= LAST) { // wrong
        int choice = __VERIFIER_nondet_int();
        if (choice == 0) {
            if (c > 0)
                c--;
        } else if (choice == 1) {
            b--;
            c = __VERIFIER_nondet_int();
        } else {
            a--;
            b = __VERIFIER_nondet_int();
            c = __VERIFIER_nondet_int();
        }
    }
    return 0;
}
