// The inner loop changes the counter of the outer one, in one direction.
// run: --property termination -DBUG => FALSE(termination)
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
    while (x > 0) { // wrong
        int i = 0;
        while (i < y) {
            i++;
            if (__VERIFIER_nondet_int() && x > 10)
                x--;
        }
#ifdef BUG
        if (x == 5)
            continue;
#endif
        x--;
    }
    return 0;
}
