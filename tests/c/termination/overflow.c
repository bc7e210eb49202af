// A counter that would have to overflow to continue forever; and phases, each with its component.
// run: --property termination => TRUE
// run: --property termination -DPHASES => TRUE
// run: --property termination -DFOREVER => FALSE(termination)
extern int __VERIFIER_nondet_int(void);

int main(void) {
    int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
#ifdef PHASES
    // First y falls below zero, then x.
    while (x >= 0) {
        x = x + y;
        y = y - 1;
    }
#elif defined FOREVER
    while (x <= y) // wrong
        x = y;
#else
    while (x <= y)
        x++;
#endif
    return 0;
}
