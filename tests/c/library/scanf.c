// scanf may read any values.
#include "../verify.h"
#include <stdio.h>

int main(void) {
    int x = 0, y = 0;
    if (scanf("%d %d", &x, &y) != 2)
        return 0;
    if (x > 10 && y == x + 1)
        wrong(x != 41);
    check(y != x + 1 || y != x);
    return 0;
}
