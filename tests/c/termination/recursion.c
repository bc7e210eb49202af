// Ackermann's function ends; with BUG the second argument of the outer call is right, and the first is not.
// run: --property termination => TRUE
// run: --property termination -DBUG => FALSE(termination)
extern int __VERIFIER_nondet_int(void);
#ifdef BUG
#define LESS(m) (m)
#else
#define LESS(m) (m - 1)
#endif

int ackermann(int m, int n) { // wrong
    if (m <= 0)
        return n + 1;
    if (n <= 0)
        return ackermann(LESS(m), 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

int main(void) {
    int m = __VERIFIER_nondet_int(), n = __VERIFIER_nondet_int();
    return ackermann(m, n);
}
