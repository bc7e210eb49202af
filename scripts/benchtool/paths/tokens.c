/* A tokenizer of N characters: numbers, names, spaces, strings. */
extern char __VERIFIER_nondet_char(void);
extern void reach_error(void);
#ifndef N
#define N 8
#endif

int main(void) {
    char s[N + 1];
    int tokens = 0, i = 0;
    for (int k = 0; k < N; k++)
        s[k] = __VERIFIER_nondet_char();
    s[N] = 0;
    while (s[i]) {
        char c = s[i];
        if (c == ' ' || c == '\n') {
            i++;
            continue;
        }
        tokens++;
        if (c >= '0' && c <= '9') {
            while (s[i] >= '0' && s[i] <= '9')
                i++;
        } else if (c >= 'a' && c <= 'z') {
            while (s[i] >= 'a' && s[i] <= 'z')
                i++;
        } else if (c == '"') {
            i++;
            while (s[i] && s[i] != '"')
                i++;
            if (s[i])
                i++;
        } else
            i++;
    }
    if (tokens > N)
        reach_error();
    return 0;
}
