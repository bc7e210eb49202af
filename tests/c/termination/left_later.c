// The loop that is named is one that is never left, though others take very many turns before it.
// run: --property termination => FALSE(termination)
// run: --property termination -DENDS => TRUE
extern int __VERIFIER_nondet_int(void);

int main(void) {
    unsigned long n = __VERIFIER_nondet_int() & 1 ? 4000000000UL : 3;
    while (n > 0)
        n--;
#ifndef ENDS
    for (;;) // wrong
        ;
#endif
    return 0;
}
