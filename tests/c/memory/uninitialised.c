// native: no
// A variable that was never written may have any value.
#include "../verify.h"

int main(void) {
    int x;
    int a[2];
    a[0] = 1;
    int y = x;
    check(y == x || y != y + 0);
    check(a[0] == 1);
    wrong(x != 12345);
    return 0;
}
