/* The library's string functions, an LZ77 coder and decoder, and an interpreter for a tape machine. */
#include "report.h"
#include <ctype.h>
#include <string.h>

static unsigned hash = 1;
static void text(const char *s) { while (*s) hash = fold(hash, (unsigned char)*s++); hash = fold(hash, 256); }
static int sign(int x) { return (x > 0) - (x < 0); }

static int compress(const char *in, int n, unsigned char *out) {
    int used = 0;
    for (int i = 0; i < n;) {
        int best = 0, distance = 0;
        for (int j = i > 255 ? i - 255 : 0; j < i; j++) {
            int k = 0;
            while (k < 255 && i + k < n && in[j + k] == in[i + k]) k++;
            if (k > best) { best = k; distance = i - j; }
        }
        if (best > 3) { out[used++] = 0; out[used++] = distance; out[used++] = best; i += best; }
        else { out[used++] = 1; out[used++] = in[i++]; }
    }
    return used;
}
static int expand(const unsigned char *in, int n, char *out) {
    int used = 0;
    for (int i = 0; i < n;)
        if (in[i]) { out[used++] = in[i + 1]; i += 2; }
        else { for (int k = 0; k < in[i + 2]; k++, used++) out[used] = out[used - in[i + 1]]; i += 3; }
    return used;
}

static void run(const char *program) {
    static char tape[100];
    char *at = tape;
    for (const char *p = program; *p; p++)
        switch (*p) {
        case '>': at++; break;
        case '<': at--; break;
        case '+': ++*at; break;
        case '-': --*at; break;
        case '.': hash = fold(hash, *at); break;
        case '[': if (!*at) for (int depth = 1; depth;) { p++; depth += (*p == '[') - (*p == ']'); } break;
        case ']': if (*at) for (int depth = 1; depth;) { p--; depth += (*p == ']') - (*p == '['); } break;
        }
}

int main(void) {
    char a[64] = "the quick brown fox", b[64], *p;
    strcpy(b, a); strcat(b, " jumps"); text(b);
    strncpy(b, "over", 3); text(b);
    strncat(b, "the lazy dog", 5); text(b);
    hash = fold(hash, strlen(b)); hash = fold(hash, sign(strcmp(a, b))); hash = fold(hash, sign(strncmp(a, b, 3)));
    hash = fold(hash, sign(memcmp("abc\0x", "abc\0y", 5)));
    p = strchr(a, 'q'); hash = fold(hash, p - a);
    p = strrchr(a, 'o'); hash = fold(hash, p - a);
    p = strstr(a, "brown"); hash = fold(hash, p - a);
    hash = fold(hash, strchr(a, 'z') == NULL); hash = fold(hash, strspn(a, "eht ")); hash = fold(hash, strcspn(a, "kc"));
    hash = fold(hash, (char *)memchr(a, 'x', 64) - a); hash = fold(hash, memchr(a, 'Z', 64) == NULL);
    memmove(a + 4, a, 15); text(a);
    memset(a + 2, '#', 3); text(a);
    for (int c = 0; c < 128; c++)
        hash = fold(hash, !!isalpha(c) | !!isdigit(c) << 1 | !!isspace(c) << 2 | !!isupper(c) << 3 | !!isalnum(c) << 4 | toupper(c) << 8 | tolower(c) << 16);
    hash = fold(hash, atoi("-1234x")); hash = fold(hash, strtol("0x7fz", &p, 16)); text(p); hash = fold(hash, strtoul("777", NULL, 8)); hash = fold(hash, abs(-5));

    enum { N = 700 };
    char *source = malloc(N), *back = malloc(N + 1);
    unsigned char *packed = malloc(2 * N);
    for (int i = 0; i < N; i++) source[i] = "abracadabra"[(i * i * (i / 90 % 2) + i % 5) % 11];
    int n = compress(source, N, packed);
    hash = fold(hash, n);
    for (int i = 0; i < n; i++) hash = fold(hash, packed[i]);
    if (expand(packed, n, back) != N || memcmp(source, back, N) != 0) hash = 0;
    free(source); free(back); free(packed);
    run("++++++++[>++++[>++>+++>+++>+<<<<-]>+>+>->>+[<]<-]>>.>---.+++++++..+++.>>.<-.<.+++.------.--------.>>+.>++.");
    report(hash);
}
