// Defines: sinf cosf tanf sincosf asinf acosf atanf atan2f sinhf coshf tanhf asinhf acoshf atanhf expf exp2f exp10f
// Defines: expm1f logf log2f log10f log1pf powf cbrtf hypotf erff erfcf tgammaf lgammaf lgammaf_r
#pragma once
#include "transcendental.h"

FUNCTIONS(float, f)
