#include <stdio.h>
#include <string.h>
#include <ctype.h>

static void reverse(char *s) {
    size_t i, n = strlen(s);
    for (i = 0; i < n / 2; i++) {
        char t = s[i];
        s[i] = s[n - 1 - i];
        s[n - 1 - i] = t;
    }
}

static int palindrome(const char *s) {
    const char *l = s, *r = s + strlen(s);
    if (l == r) return 0;
    r--;
    while (l < r) {
        if (!isalnum((unsigned char)*l)) { l++; continue; }
        if (!isalnum((unsigned char)*r)) { r--; continue; }
        if (tolower((unsigned char)*l) != tolower((unsigned char)*r)) return 0;
        l++;
        r--;
    }
    return 1;
}

int main(void) {
    char line[100];
    int found = 0, lines = 0;
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = 0;
        lines++;
        if (palindrome(line)) {
            printf("%s is a palindrome\n", line);
            found++;
        } else {
            reverse(line);
            puts(line);
        }
    }
    if (lines && found == lines) puts("all palindromes");
    return found ? 0 : 1;
}
