// complex.h and complex arithmetic, for float, double and long double.
#include "harness.h"
#include <complex.h>

// The payload and the sign of a NaN are not modelled.
#define SEE(T, expression)                                                                                           \
    {                                                                                                                \
        volatile T _Complex result = (expression);                                                                   \
        see_real(__real__ result);                                                                                   \
        see_real(__imag__ result);                                                                                   \
    }
#define SEE_REAL(T, expression)                                                                                      \
    {                                                                                                                \
        volatile T result = (expression);                                                                            \
        see_real(result);                                                                                            \
    }

// Numbers of any magnitude, and numbers that are typical for programs.
#define PARTS(T, RANDOM)                                                                                             \
    T part[4];                                                                                                       \
    _Bool small = random_below(2);                                                                                   \
    for (int i = 0; i < 4; i++)                                                                                      \
        part[i] = small && random_below(8) ? (T)((int)random_below(401) - 200) / (T)8 : RANDOM();                    \
    say("%La + %Lai, %La + %Lai", (long double)part[0], (long double)part[1], (long double)part[2],                  \
        (long double)part[3]);
#define ARITHMETIC(T, X, name, RANDOM)                                                                               \
    extern T _Complex name(T, T, T, T);                                                                              \
    DRIVER(name) {                                                                                                   \
        if (sizeof(void *) == 4 && sizeof(T) <= 8)                                                                   \
            may_approximate();                                                                                       \
        PARTS(T, RANDOM)                                                                                             \
        SEE(T, LIB(name)(part[0], part[1], part[2], part[3]))                                                        \
    }
#define PART(T, X, name, RANDOM)                                                                                     \
    DRIVER(name##X) {                                                                                                \
        PARTS(T, RANDOM)                                                                                             \
        SEE_REAL(T, LIB(name##X)(__builtin_complex(part[0], part[1])))                                               \
    }
#define POLAR(T, X, name, RANDOM)                                                                                    \
    DRIVER(name##X) {                                                                                                \
        may_approximate();                                                                                           \
        PARTS(T, RANDOM)                                                                                             \
        SEE_REAL(T, LIB(name##X)(__builtin_complex(part[0], part[1])))                                               \
    }
#define EXACT(T, X, name, RANDOM)                                                                                    \
    DRIVER(name##X) {                                                                                                \
        PARTS(T, RANDOM)                                                                                             \
        SEE(T, LIB(name##X)(__builtin_complex(part[0], part[1])))                                                    \
    }
#define ANY(T, X, name, RANDOM)                                                                                      \
    DRIVER(name##X) {                                                                                                \
        may_approximate();                                                                                           \
        PARTS(T, RANDOM)                                                                                             \
        SEE(T, LIB(name##X)(__builtin_complex(part[0], part[1])))                                                    \
    }

#define COMPLEX(T, X, product, quotient, RANDOM)                                                                     \
    ARITHMETIC(T, X, product, RANDOM)                                                                                \
    ARITHMETIC(T, X, quotient, RANDOM)                                                                               \
    PART(T, X, creal, RANDOM)                                                                                        \
    PART(T, X, cimag, RANDOM)                                                                                        \
    EXACT(T, X, conj, RANDOM)                                                                                        \
    EXACT(T, X, cproj, RANDOM)                                                                                       \
    POLAR(T, X, cabs, RANDOM)                                                                                        \
    POLAR(T, X, carg, RANDOM)                                                                                        \
    ANY(T, X, csqrt, RANDOM)                                                                                         \
    ANY(T, X, cexp, RANDOM)                                                                                          \
    ANY(T, X, clog, RANDOM)                                                                                          \
    ANY(T, X, clog10, RANDOM)                                                                                        \
    ANY(T, X, csin, RANDOM)                                                                                          \
    ANY(T, X, ctan, RANDOM)                                                                                          \
    ANY(T, X, casin, RANDOM)                                                                                         \
    ANY(T, X, catan, RANDOM)                                                                                         \
    ANY(T, X, ccosh, RANDOM)                                                                                         \
    ANY(T, X, cacosh, RANDOM)                                                                                        \
    DRIVER(cpow##X) {                                                                                                \
        may_approximate();                                                                                           \
        PARTS(T, RANDOM)                                                                                             \
        SEE(T, LIB(cpow##X)(__builtin_complex(part[0], part[1]), __builtin_complex(part[2], part[3])))               \
    }

COMPLEX(float, f, __mulsc3, __divsc3, random_float)
COMPLEX(double, , __muldc3, __divdc3, random_double)
COMPLEX(long double, l, __mulxc3, __divxc3, random_longdouble)
