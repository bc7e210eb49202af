// A recursion with three components, each of which may restart when the one before decreases.
// run: --property termination => TRUE
// run: --property termination -DSTEP=0 => FALSE(termination)
// ranks: 3
extern int __VERIFIER_nondet_int(void);
#ifndef STEP
#define STEP 1
#endif

static int visit(int level, int row, int column) { // wrong
    if (level <= 0 || row <= 0 || column <= 0)
        return 0;
    switch (__VERIFIER_nondet_int()) {
    case 0:
        return visit(level, row, column - STEP);
    case 1:
        return visit(level, row - 1, __VERIFIER_nondet_int());
    default:
        return visit(level - 1, __VERIFIER_nondet_int(), __VERIFIER_nondet_int());
    }
}

int main(void) {
    return visit(__VERIFIER_nondet_int(), __VERIFIER_nondet_int(), __VERIFIER_nondet_int());
}
