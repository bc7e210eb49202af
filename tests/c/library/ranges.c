// run: => UNKNOWN
// The library may or may not report a range error for a number that is rounded to the least normal one.
#include "../verify.h"
#include <errno.h>
#include <stdlib.h>

int main(void) {
    errno = 0;
    double x = strtod("2.2250738585072011e-308", NULL);
    if (x > 0 && errno == ERANGE)
        reach_error();
    return 0;
}
