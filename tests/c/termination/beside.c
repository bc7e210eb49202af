// No proof depends on undefined behaviour next to the loop: a machine continues after it, and the loop does not end.
// run: --property termination --timeout 3 => UNKNOWN
// run: --property termination -DCOUNTED => TRUE
extern int __VERIFIER_nondet_int(void);

int main(void) {
    unsigned turns = 0;
    int shifted = 0;
#ifdef COUNTED
    while (turns < 4000000) {
#else
    while (__VERIFIER_nondet_int() | 1) {
#endif
        turns++;
        shifted = 1 << (turns == 3000000 ? 40 : 1);
    }
    return shifted;
}
