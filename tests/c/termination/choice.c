// Ends only if some input does not have one value forever.
// run: --property termination => FALSE(termination)
// run: --property termination -DFIXED => TRUE
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int x = 10;
    while (x > 0) { // wrong
        int d = __VERIFIER_nondet_int();
#ifdef FIXED
        if (d <= 0)
            d = 1;
#endif
        if (d > 0)
            x = x > d ? x - d : 0;
    }
    return 0;
}
