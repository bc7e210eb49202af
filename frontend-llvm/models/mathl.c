// Defines: fabsl ceill floorl truncl rintl nearbyintl roundl roundevenl sqrtl fmal copysignl fminl fmaxl fdiml fmodl
// Defines: remainderl dreml remquol lrintl llrintl lroundl llroundl modfl frexpl ldexpl scalbnl scalblnl logbl ilogbl
// Defines: nextafterl nexttowardl nanl isnanl isinfl finitel __isnanl __isinfl __finitel __signbitl __fpclassifyl
#pragma once
#include "math.h"

OPERATIONS(long double, l)
REMAINDERS(long double, l, 0xf.fffffffffffffffp16380L)
SCALING(long double, l, 16383, 64)
CLASSES(long double, l, 16383, 0xffff)
