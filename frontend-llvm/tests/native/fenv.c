// fenv.h: rounding modes and the environment. Exceptions are arbitrary.
#include "harness.h"
#include <fenv.h>

#pragma STDC FENV_ACCESS ON

static void start_in_a_mode(void) {
    fesetenv(FE_DFL_ENV);
    int mode = ONE_OF(FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO);
    see(LIB(fesetround)(mode));
}
static void see_mode(void) {
    see(LIB(fegetround)());
    fesetenv(FE_DFL_ENV);
}

DRIVER(fesetround) {
    start_in_a_mode();
    see(LIB(fesetround)(random_below(2) ? (int)random_below(5) << 10 : (int)random_integer()));
    see_mode();
}
DRIVER(environments) {
    start_in_a_mode();
    asks_environment();
    fenv_t environment;
    see(random_below(2) ? LIB(fegetenv)(&environment) : LIB(feholdexcept)(&environment));
    see(LIB(fegetround)());
    see(LIB(fesetround)(random_below(4) << 10));
    const fenv_t *new = random_below(3) ? &environment : FE_DFL_ENV;
    see(random_below(2) ? LIB(fesetenv)(new) : LIB(feupdateenv)(new));
    see_mode();
}
DRIVER(modes) {
    start_in_a_mode();
    asks_environment();
    femode_t mode;
    see(LIB(fegetmode)(&mode));
    see(LIB(fesetround)(random_below(4) << 10));
    see(LIB(fesetmode)(random_below(3) ? &mode : FE_DFL_MODE));
    see_mode();
}
DRIVER(exceptions) {
    start_in_a_mode();
    asks_environment();
    may_approximate();
    see(LIB(feclearexcept)(random_bits()));
    int raised = random_bits() & FE_ALL_EXCEPT;
    see(LIB(feraiseexcept)(raised));
    see(LIB(fetestexcept)(random_bits()));
    fexcept_t *flags = room(sizeof(fexcept_t));
    int result = LIB(fegetexceptflag)(flags, random_bits());
    NATIVELY suggest(*flags);
    see(result);
    see(*flags);
    see(LIB(feclearexcept)(FE_ALL_EXCEPT));
    see(LIB(fesetexceptflag)(flags, random_bits()));
    see(LIB(fetestexcept)(random_bits()));
    see_mode();
}
