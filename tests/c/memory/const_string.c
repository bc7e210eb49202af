#include "../verify.h"

static const char *const names[] = {"zero", "one", "two", "three"};

int main(void) {
    unsigned i = __VERIFIER_nondet_uint();
    if (i >= sizeof names / sizeof *names)
        return 0;
    const char *s = names[i];
    unsigned n = 0;
    while (s[n])
        n++;
    check(n >= 3 && n <= 5);
    check("abc"[1] == 'b' && sizeof "abc" == 4);
    wrong(n != 5);
    return 0;
}
