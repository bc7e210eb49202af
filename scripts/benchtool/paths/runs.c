/* N characters are packed as runs and unpacked again. */
extern char __VERIFIER_nondet_char(void);
extern void reach_error(void);
#ifndef N
#define N 8
#endif

int main(void) {
    char s[N], packed[2 * N], t[N];
    int length = 0, n = 0;
    for (int i = 0; i < N; i++)
        s[i] = __VERIFIER_nondet_char();
    for (int i = 0; i < N;) {
        int run = 1;
        while (i + run < N && s[i + run] == s[i])
            run++;
        packed[length++] = run;
        packed[length++] = s[i];
        i += run;
    }
    for (int i = 0; i < length; i += 2)
        for (int k = 0; k < packed[i]; k++)
            t[n++] = packed[i + 1];
    for (int i = 0; i < N; i++)
        if (n != N || s[i] != t[i])
            reach_error();
    return 0;
}
