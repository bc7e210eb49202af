#include "../verify.h"
#include <string.h>

int main(void) {
    char s[6];
    for (int i = 0; i < 5; i++)
        s[i] = __VERIFIER_nondet_char();
    s[5] = 0;
    size_t n = strlen(s);
    check(n <= 5 && s[n] == 0);
    char t[12] = "x";
    strcpy(t + 1, s);
    check(strcmp(t + 1, s) == 0 && strlen(t) == n + 1);
    char *p = strchr(s, 'q');
    check(!p || (*p == 'q' && p - s < 5));
    check(strncmp("abcd", "abxx", 2) == 0 && strcmp("a", "b") < 0);
    check(strrchr("a/b/c", '/')[1] == 'c' && strstr("hello", "ll")[2] == 'o');
    wrong(strcmp(s, "key") != 0);
    return 0;
}
