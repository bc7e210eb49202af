/* A backtracking matcher (literals, ., *) of a pattern of N characters against a fixed text: each pattern is a path of its own. */
extern char __VERIFIER_nondet_char(void);
extern void reach_error(void);
#ifndef N
#define N 7
#endif
static int here(const char *pattern, const char *text);

static int star(char c, const char *rest, const char *text) {
    do {
        if (here(rest, text))
            return 1;
    } while (*text && (*text++ == c || c == '.'));
    return 0;
}

static int here(const char *pattern, const char *text) {
    if (!pattern[0])
        return 1;
    if (pattern[1] == '*')
        return star(pattern[0], pattern + 2, text);
    if (*text && (pattern[0] == '.' || pattern[0] == *text))
        return here(pattern + 1, text + 1);
    return 0;
}

int main(void) {
    char pattern[N + 2];
    for (int i = 0; i < N; i++)
        pattern[i] = __VERIFIER_nondet_char();
    pattern[N] = pattern[N + 1] = 0;
    int found = here(pattern, "hello");
    if (found != 0 && found != 1)
        reach_error();
    return 0;
}
