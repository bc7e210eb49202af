// Defines: fegetround fesetround fegetenv fesetenv feholdexcept feupdateenv feclearexcept feraiseexcept fetestexcept
// Defines: fegetexceptflag fesetexceptflag
#pragma once
#include "proviso.h"

// fenv.h: rounding is to nearest; exceptions are not tracked.

int fegetround(void) { return 0; }

int fesetround(int mode) {
    if (mode & ~0xc00)
        return 1;
    if (mode != 0)
        __proviso_unmodelled("rounding modes other than to nearest are not modelled");
    return 0;
}

int fegetenv(void *environment) {
    __proviso_env_memory(environment, sizeof(void *) == 4 ? 28 : 32);
    return 0;
}

int feholdexcept(void *environment) {
    __proviso_env_memory(environment, sizeof(void *) == 4 ? 28 : 32);
    return 0;
}

// A null or small environment is a constant like FE_DFL_ENV.
int fesetenv(const void *environment) { return 0; }

int feupdateenv(const void *environment) { return 0; }

int feclearexcept(int exceptions) { return 0; }

int feraiseexcept(int exceptions) { return 0; }

int fetestexcept(int exceptions) {
    __proviso_overapproximated("floating-point exceptions are not modelled exactly");
    return __proviso_env_int() & exceptions & 0x3d;
}

int fegetexceptflag(unsigned short *flags, int exceptions) {
    __proviso_overapproximated("floating-point exceptions are not modelled exactly");
    *flags = __proviso_env_int();
    return 0;
}

int fesetexceptflag(const unsigned short *flags, int exceptions) {
    proviso_read(flags, sizeof *flags);
    return 0;
}
