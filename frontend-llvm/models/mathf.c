// Defines: fabsf ceilf floorf truncf rintf nearbyintf roundf roundevenf sqrtf fmaf copysignf fminf fmaxf fdimf fmodf
// Defines: remainderf dremf remquof lrintf llrintf lroundf llroundf modff frexpf ldexpf scalbnf scalblnf logbf ilogbf
// Defines: nextafterf nexttowardf nanf isnanf isinff finitef __isnanf __isinff __finitef __signbitf __fpclassifyf
#pragma once
#include "math.h"

OPERATIONS(float, f)
REMAINDERS(float, f, 0x1.fffffep127f)
SCALING(float, f, 127, 24)
CLASSES(float, f, 127, 1)
