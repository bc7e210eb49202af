// run: => TRUE
// run: -DSET => UNKNOWN
// The variable `A` may have a value that begins with `B=`, so `A=B` may have a value.
#include "../verify.h"
#include <stdlib.h>

int main(void) {
#ifdef SET
    setenv("A", "B=x", 1);
#endif
    const char *value = getenv("A=B");
    if (!value)
        return 0;
    int length = 0;
    while (value[length])
        length++;
    check(length >= 0);
    return 0;
}
