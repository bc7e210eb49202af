// Stubs for the undefined functions of undefined_policies.c.
long __VERIFIER_nondet_long(void);
void __VERIFIER_assume(int);
struct pair;

long measure(int x) {
    long result = __VERIFIER_nondet_long();
    __VERIFIER_assume(result >= 0 && result <= x);
    return result;
}

void inspect(struct pair *p) {}
