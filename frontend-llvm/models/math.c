// Defines: fabs ceil floor trunc rint nearbyint round roundeven sqrt fma copysign fmin fmax fdim fmod remainder drem
// Defines: remquo lrint llrint lround llround modf frexp ldexp scalbn scalbln logb ilogb nextafter nexttoward nan
// Defines: isnan isinf finite __isnan __isinf __finite __signbit __fpclassify
#pragma once
#include "math.h"

OPERATIONS(double, )
REMAINDERS(double, , 0x1.fffffffffffffp1023)
SCALING(double, , 1023, 53)
CLASSES(double, , 1023, 1)
