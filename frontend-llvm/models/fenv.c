// Defines: fegetround fesetround fegetenv fesetenv feholdexcept feupdateenv feclearexcept feraiseexcept fetestexcept
// Defines: fegetexceptflag fesetexceptflag fegetmode fesetmode
#pragma once
#include "proviso.h"

// fenv.h: the rounding mode on x86, where SSE and x87 have the same mode. Exceptions are not tracked.

// Branches on each mode, so that the mode is known afterwards.
static void proviso_set_rounding(unsigned mode) {
    switch (mode) {
    case 0:
        __proviso_set_rounding(0);
        break;
    case 1:
        __proviso_set_rounding(1);
        break;
    case 2:
        __proviso_set_rounding(2);
        break;
    default:
        __proviso_set_rounding(3);
    }
}

int fegetround(void) { return __proviso_rounding() << 10; }

int fesetround(int mode) {
    if (mode & ~0xc00)
        return 1;
    proviso_set_rounding((unsigned)mode >> 10);
    return 0;
}

// The control registers of the x87 and SSE units. Exceptions are masked, and the x87 computes with full precision.
#define X87_CONTROL 0x37f
#define SSE_CONTROL 0x1f80

// The layout of the C library. Only the fields with the rounding mode are set.
struct proviso_fenv {
    unsigned short control, rest[13];
#if __SIZEOF_POINTER__ == 8
    unsigned sse_control;
#endif
};

struct proviso_femode {
    unsigned short control, reserved;
    unsigned sse_control;
};

static void proviso_set_control(unsigned control, unsigned sse_control) {
    unsigned mode = control >> 10 & 3;
    if ((control & 0x33f) != (X87_CONTROL & 0x33f) || (sse_control & ~0x3f) != (SSE_CONTROL | mode << 13))
        __proviso_unmodelled("traps of floating-point operations and other unusual environments are not modelled");
    proviso_set_rounding(mode);
}

// The sticky flags in the environment are unknown.
static int proviso_get_environment(struct proviso_fenv *environment) {
    __proviso_env_memory(environment, sizeof *environment);
    unsigned mode = __proviso_rounding();
    environment->control = X87_CONTROL | mode << 10;
#if __SIZEOF_POINTER__ == 8
    environment->sse_control = (environment->sse_control & 0x3f) | SSE_CONTROL | mode << 13;
#endif
    return 0;
}

static int proviso_set_environment(const struct proviso_fenv *environment) {
    // FE_DFL_ENV, and FE_NOMASK_ENV, which enables traps.
    if ((uintptr_t)environment >= (uintptr_t)-2) {
        if ((uintptr_t)environment == (uintptr_t)-2)
            __proviso_unmodelled("traps of floating-point operations are not modelled");
        __proviso_set_rounding(0);
        return 0;
    }
    unsigned control = environment->control;
#if __SIZEOF_POINTER__ == 8
    proviso_set_control(control, environment->sse_control);
#else
    // The library copies the mode of the x87 to SSE.
    proviso_set_control(control, SSE_CONTROL | (control & 0xc00) << 3);
#endif
    return 0;
}

int fegetenv(void *environment) { return proviso_get_environment(environment); }

int feholdexcept(void *environment) { return proviso_get_environment(environment); }

int fesetenv(const void *environment) { return proviso_set_environment(environment); }

int feupdateenv(const void *environment) { return proviso_set_environment(environment); }

int fegetmode(struct proviso_femode *control) {
    __proviso_env_memory(control, sizeof *control);
    unsigned mode = __proviso_rounding();
    control->control = X87_CONTROL | mode << 10;
    control->sse_control = (control->sse_control & 0x3f) | SSE_CONTROL | mode << 13;
    return 0;
}

int fesetmode(const struct proviso_femode *control) {
    // FE_DFL_MODE.
    if ((uintptr_t)control == (uintptr_t)-1)
        __proviso_set_rounding(0);
    else
        proviso_set_control(control->control, control->sse_control);
    return 0;
}

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
