// Jumps out of nested scopes that end one after the other, each with an object whose address is taken.
#include "../verify.h"

static int odd(const int *p) {
    return *p & 1;
}

static int count(int n) {
    int sum = 0;
    do {
        int x = n;
        if (odd(&x))
            continue;
        int parts[3] = {1, 2, x};
        if (parts[2] == 6)
            break;
        for (int i = 0; i < 2; i++) {
            int part = parts[i];
            if (odd(&part))
                continue;
            switch (part) {
            case 2: {
                int two = part;
                if (odd(&two))
                    return -1;
                sum += two;
                continue;
            }
            default:
                return -2;
            }
        }
    } while (n-- > 0);
    return sum;
}

int main(void) {
    // 5 to 0; or 8, 7 and 6, where it ends.
    check(count(5) == 6);
#ifdef BUG
    check(count(8) == 6); // wrong
#else
    check(count(8) == 2);
#endif
    return 0;
}
