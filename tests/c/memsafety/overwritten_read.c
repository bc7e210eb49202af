// A value that was read from a string and then overwritten must not bound the position of a null byte that is found later.
// run: --property valid-deref => FALSE(valid-deref)
// run: -DBEHIND --property valid-deref => FALSE(valid-deref)
// run: -DELSEWHERE --property valid-deref => TRUE
#include "../verify.h"

int main(void) {
    char s[4], t[4], b[3] = {0, 0, 0};
    for (int k = 0; k < 4; k++)
        s[k] = t[k] = __VERIFIER_nondet_char();
    unsigned i = __VERIFIER_nondet_uint();
    if (i > 3)
        return 0;
    char x = __VERIFIER_nondet_char();
    char *p = s + i;
    char c = *p;
    if (c == 0)
        return 0;
#ifdef ELSEWHERE
    t[i] = x;
    s[3] = 0;
#else
    *p = x;
#endif
    if (x != 0)
        return 0;
#ifdef BEHIND
    if (c > 5) {
        p++;
        *p = 1; // BEHIND: wrong
    }
#elif defined(ELSEWHERE)
    while (*p)
        p++;
#else
    if (c > 5)
        b[p - s] = 1; // wrong
#endif
    return b[0];
}
