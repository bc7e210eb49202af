/* base FROM TO DIGITS */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int value_of(char c) {
    const char *digits = "0123456789abcdefghijklmnopqrstuvwxyz";
    const char *at = strchr(digits, c | 32);
    if (c == '\0' || at == NULL) return -1;
    return at - digits;
}

int main(int argc, char **argv) {
    if (argc < 4) { puts("base FROM TO DIGITS"); return 2; }
    int from = atoi(argv[1]), to = atoi(argv[2]);
    if (from < 2 || from > 36 || to < 2 || to > 36) { puts("bases are 2 to 36"); return 2; }
    char *p = argv[3];
    int negative = 0;
    if (*p == '-') { negative = 1; p++; }
    if (!*p) { puts("no digits"); return 1; }
    unsigned long long n = 0;
    while (*p) {
        int v = value_of(*p);
        if (v < 0 || v >= from) { printf("bad digit '%c'\n", *p); return 1; }
        if (n > (~0ULL - v) / from) { puts("overflow"); return 1; }
        n = n * from + v;
        p++;
    }
    char out[66];
    int i = sizeof out;
    out[--i] = 0;
    do {
        out[--i] = "0123456789abcdefghijklmnopqrstuvwxyz"[n % to];
        n /= to;
    } while (n);
    if (negative) putchar('-');
    puts(out + i);
    return 0;
}
