#include "../verify.h"
#include <string.h>

int main(void) {
    unsigned char a[8], b[8];
    memset(a, 0xaa, sizeof a);
    for (int i = 0; i < 8; i++)
        b[i] = __VERIFIER_nondet_uchar();
    memcpy(a + 2, b, 4);
    check(a[1] == 0xaa && a[6] == 0xaa && a[2] == b[0] && a[5] == b[3]);
    memmove(a + 1, a, 7);
    check(a[0] == 0xaa && a[1] == 0xaa && a[3] == b[0]);
    check(memcmp(b, b, 8) == 0);
    check((memcmp(a, b, 1) < 0) == (a[0] < b[0]));
    check(memchr(a, 0xaa, 8) == a);
    wrong(memcmp(a + 3, "abc", 3) != 0);
    return 0;
}
