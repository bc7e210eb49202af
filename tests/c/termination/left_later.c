// The reported loop is never left, although other loops have very many iterations before it.
// run: --property termination => FALSE(termination)
// run: --property termination -DENDS => TRUE
// Also if it is found after the proof that the program does not end; in it no state recurs soon.
// run: --property termination -DCOUNTS --timeout 600 => FALSE(termination)
extern int __VERIFIER_nondet_int(void);

int main(void) {
#ifdef COUNTS
    unsigned turns = 0, n = __VERIFIER_nondet_int();
    if (n % 4 == 0)
        n = 4000000000U;
#else
    unsigned long n = __VERIFIER_nondet_int() & 1 ? 4000000000UL : 3;
#endif
    while (n > 0)
        n--;
#ifdef COUNTS
    for (;;)
        turns++; // wrong
#elif !defined ENDS
    for (;;) // wrong
        ;
#endif
    return 0;
}
