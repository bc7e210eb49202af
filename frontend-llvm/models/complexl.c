// Defines: __mulxc3 __divxc3 creall cimagl conjl cprojl cabsl cargl cpowl csqrtl cexpl clogl csinl ccosl
// Defines: ctanl casinl cacosl catanl csinhl ccoshl ctanhl casinhl cacoshl catanhl clog10l
#pragma once
#include "complex.h"
#include "transcendentall.c"

PRODUCT(long double, l, __mulxc3)
QUOTIENT(long double, l, __divxc3, __LDBL_MAX__, __LDBL_MIN__, __LDBL_EPSILON__)
COMPLEX(long double, l)
