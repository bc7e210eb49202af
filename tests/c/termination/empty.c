// A jump to itself, after an error that ends the program.
// run: --property termination => TRUE
// run: --property termination -DBUG => FALSE(termination)
extern int __VERIFIER_nondet_int(void);
extern void abort(void);
extern void __assert_fail(const char *, const char *, unsigned, const char *);
void reach_error(void) { __assert_fail("0", "empty.c", 8, "reach_error"); }

int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x == 3) {
#ifndef BUG
        reach_error();
#endif
    forever:
        goto forever; // wrong
    }
    for (;;) {
        if (x > 100)
            abort();
        x = x < 0 ? 0 : x + 1;
    }
}
