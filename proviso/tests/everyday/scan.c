#include <stdio.h>
int main(void) {
    int n, a[10], sum = 0;
    if (scanf("%d", &n) != 1) { puts("no number"); return 1; }
    if (n < 1 || n > 10) { puts("out of range"); return 1; }
    for (int i = 0; i < n; i++) {
        if (scanf("%d", &a[i]) != 1) { puts("too few"); return 2; }
        sum += a[i];
    }
    char word[20];
    if (scanf("%19s", word) == 1) { if (word[0] == 'm' && word[1] == 'a' && word[2] == 'x') puts("max"); else puts("sum"); }
    if (sum == 1234) puts("bingo");
    if (sum < 0) puts("negative"); else if (sum == 0) puts("zero");
    return 0;
}
