#include "../verify.h"

int main(void) {
    double _Complex z = 1.0 + 2.0i;
    z = z * 2.0;
    check(__real__ z == 2.0 && __imag__ z == 4.0);
    int n = __VERIFIER_nondet_schar();
    z += n;
    check(__imag__ z == 4.0);
    wrong(__real__ z != 9.0);
    return 0;
}
