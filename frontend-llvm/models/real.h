// The common part of the models of math.h: macros with the type `T` and the suffix `X` of the functions.
#pragma once
#include "proviso.h"

#define JOIN(a, b) a##b
#define F(name, X) JOIN(name, X)
#define IS_NAN(x) ((x) != (x))
#define INFINITE(T, X) ((T)__builtin_inff())

static float proviso_anyf(void) { return __proviso_env_float(); }
static double proviso_any(void) { return __proviso_env_double(); }
static long double proviso_anyl(void) { return __proviso_env_longdouble(); }
