// Defines: sinl cosl tanl sincosl asinl acosl atanl atan2l sinhl coshl tanhl asinhl acoshl atanhl expl exp2l exp10l
// Defines: expm1l logl log2l log10l log1pl powl cbrtl hypotl erfl erfcl tgammal lgammal lgammal_r
#pragma once
#include "transcendental.h"

FUNCTIONS(long double, l)
