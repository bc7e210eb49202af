// Defines: __muldc3 __divdc3 creal cimag conj cproj cabs carg cpow csqrt cexp clog csin ccos ctan casin cacos
// Defines: catan csinh ccosh ctanh casinh cacosh catanh clog10
#pragma once
#include "complex.h"
#include "transcendental.c"

PRODUCT(double, , __muldc3)
QUOTIENT(double, , __divdc3, __DBL_MAX__, __DBL_MIN__, __DBL_EPSILON__)
COMPLEX(double, )
