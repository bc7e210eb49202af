// Defines: __mulsc3 __divsc3 crealf cimagf conjf cprojf cabsf cargf cpowf csqrtf cexpf clogf csinf ccosf
// Defines: ctanf casinf cacosf catanf csinhf ccoshf ctanhf casinhf cacoshf catanhf clog10f
#pragma once
#include "complex.h"
#include "transcendentalf.c"

PRODUCT(float, f, __mulsc3)
QUOTIENT_IN_DOUBLE(float, f, __divsc3)
COMPLEX(float, f)
