#include "../verify.h"

static int of_char(char c) {
    switch (c) {
    case 'a': return 1;
    case '\xff': return 2;
    }
    return 0;
}
static int of_long(unsigned long l) {
    switch (l) {
    case 0xffffffffffffffff: return 1;
    case 1ul << 40: return 2;
    default: return 0;
    }
}
static int duff(int n) {
    int count = 0;
    switch (n % 4) {
        do {
    case 0: count++;
    case 3: count++;
    case 2: count++;
    case 1: count++;
        } while ((n -= 4) > 0);
    }
    return count;
}

int main(void) {
    char c = __VERIFIER_nondet_char();
    unsigned long l = __VERIFIER_nondet_ulong();
    check(of_char('a') == 1 && of_char((char)255) == 2);
    check(of_long(-1ul) == 1 && of_long((unsigned)(1ul << 40)) == 0);
    check(duff(7) == 7 && duff(8) == 8);
    wrong(of_char(c) != 2 || of_long(l) != 2);
    return 0;
}
