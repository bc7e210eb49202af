// run: --property termination => FALSE(termination)
// run: --property termination -DENDS => TRUE
// Inputs through functions: each call chooses its own. In this execution, the calls have different values.
extern int __VERIFIER_nondet_int(void);
extern void abort(void);

static int any(void) {
    return __VERIFIER_nondet_int();
}

static int below(int end) {
    int chosen = any();
    if (chosen < 0 || chosen >= end)
        abort();
    return chosen;
}

int main(void) {
    int a = below(10), b = any(), c = any();
    while (a == 7) { // wrong
        if (below(3) != 2)
            break;
        if (b != 41 || c != b + 1)
            break;
        if (any() != -3)
            break;
#ifdef ENDS
        a--;
#endif
    }
    return 0;
}
