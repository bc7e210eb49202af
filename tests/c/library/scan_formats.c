// Known formats: a value that is read has the type and width of the format, and values that were read before do not change.
// run: -DNUMBERS --property valid-deref => TRUE
// run: -DTOO_MANY --property valid-deref => FALSE(valid-deref)
// run: -DWORDS --property valid-deref => TRUE
// run: -DNO_ROOM --property valid-deref => FALSE(valid-deref)
// run: -DLINES --property valid-deref => TRUE
// run: -DTEXT => TRUE
// run: -DTEXT -DBUG => FALSE(unreach-call)
// run: -DTEXT -DBUG --32 => FALSE(unreach-call)
// run: -DLONGEST --property valid-deref => TRUE
// run: -DNOWHERE --property valid-deref => FALSE(valid-deref)
// run: -DCHOSEN -DBUG => FALSE(unreach-call)
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(NUMBERS)
int main(void) {
    int n;
    if (scanf("%d", &n) != 1 || n < 1 || n > 1000)
        return 1;
    int *a = malloc(n * sizeof *a);
    if (!a)
        return 1;
    for (int i = 0; i < n; i++) {
        if (scanf("%d", &a[i]) != 1) {
            free(a);
            return 1;
        }
    }
    int most = a[0];
    for (int i = 1; i < n; i++)
        if (a[i] > most)
            most = a[i];
    printf("%d\n", most);
    free(a);
    return 0;
}
#elif defined(TOO_MANY)
int main(void) {
    int a[4], n;
    if (scanf("%d", &n) != 1)
        return 1;
    for (int i = 0; i < n; i++)
        if (scanf("%d", &a[i]) != 1) // TOO_MANY: wrong
            break;
    return 0;
}
#elif defined(WORDS)
int main(void) {
    char name[16];
    double x;
    long k;
    while (scanf("%15s %lf %ld", name, &x, &k) == 3) {
        size_t n = strlen(name);
        if (n > 0)
            name[n - 1] = 'x';
    }
    return 0;
}
#elif defined(NO_ROOM)
int main(void) {
    char name[16];
    if (scanf("%16s", name) != 1) // NO_ROOM: wrong
        return 1;
    return name[0];
}
#elif defined(LINES)
int main(void) {
    char line[64], key[16] = "";
    int value = 0, kept = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, " %15[^=] = %d", key, &value) == 2 && value >= 0 && value < 100)
            kept = value;
        if (strlen(key) > 15)
            return kept;
    }
    return 0;
}
#elif defined(LONGEST)
int main(void) {
    char word[32], longest[32] = "";
    // Every word fits.
    while (scanf("%31s", word) != EOF) {
        if (strlen(word) > strlen(longest))
            strcpy(longest, word);
    }
    return longest[0];
}
#elif defined(TEXT)
int main(void) {
    int a = 7, b = 8, n = -1;
    unsigned char c = 9;
    long d = 5;
    char word[4] = "xyz", one = 'q';
    check(sscanf("12,x", "%d,%d", &a, &b) == 1 && a == 12 && b == 8);
    check(sscanf(" 7ff 300", "%lx %hhu%n", &d, &c, &n) == 2 && d == 0x7ff && c == 44 && n == 8);
    check(sscanf("abcdef", "%*2c%3[a-d]%c", word, &one) == 2 && !strcmp(word, "cd") && one == 'e');
    check(sscanf("", "%d", &a) == EOF && sscanf("5%", "%d%%", &a) == 1 && a == 5);
    check(sscanf("x", "y") == 0 && sscanf("-0x1f", "%i", &a) == 1 && a == -31);
    wrong(sscanf("1 2", "%d %d", &a, &b) == 2 && a == 1 && b == 3);
    return 0;
}
#elif defined(NOWHERE)
int main(void) {
    int *p = NULL;
    scanf("%d", p); // NOWHERE: wrong
    return 0;
}
#elif defined(CHOSEN)
int main(void) {
    int x, y;
    if (scanf("%d,%2x", &x, &y) == 2)
        wrong(x != -77 || y != 0xa0);
    return 0;
}
#endif
