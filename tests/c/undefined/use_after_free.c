// run: => UNKNOWN
#include "../verify.h"
#include <stdlib.h>

int main(void) {
    int *p = malloc(sizeof *p);
    if (!p)
        return 0;
    *p = 1;
    free(p);
    check(*p == 1);
    return 0;
}
