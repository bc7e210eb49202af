// Defines: sin cos tan sincos asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp exp2 exp10 expm1 log log2
// Defines: log10 log1p pow cbrt hypot erf erfc tgamma lgamma lgamma_r signgam
#pragma once
#include "transcendental.h"

FUNCTIONS(double, )
