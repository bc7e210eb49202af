// Uninterpreted functions: equal results for equal arguments, nothing else.
#include "../verify.h"

unsigned long __CPROVER_uninterpreted_hash(const void *object, int seed);
_Bool __CPROVER_uninterpreted_vowel(unsigned char c);

static int object;

static int vowels(unsigned char *s, int n) {
    int count = 0;
    for (int i = 0; i < n; i++)
        count += __CPROVER_uninterpreted_vowel(s[i]);
    return count;
}

int main(void) {
    int i = __VERIFIER_nondet_int(), j = __VERIFIER_nondet_int();
    unsigned long a = __CPROVER_uninterpreted_hash(&object, i), b = __CPROVER_uninterpreted_hash(&object, j);
    if (i == j)
        check(a == b);
    check(__CPROVER_uninterpreted_hash(&object, i) == a);
    unsigned char s[3];
    for (int k = 0; k < 3; k++)
        s[k] = __VERIFIER_nondet_uchar();
    int n = vowels(s, 3);
    check(vowels(s, 3) == n);
    if (s[0] == s[1] && s[1] == s[2])
        check(n == 0 || n == 3);
    wrong(n != 2 || a != b || i == j);
    return 0;
}
