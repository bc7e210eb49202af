/* Encodes standard input in base64, or decodes it with -d. */
#include <stdio.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode(void)
{
    unsigned char in[3];
    size_t n;
    while ((n = fread(in, 1, 3, stdin)) > 0) {
        for (size_t i = n; i < 3; i++)
            in[i] = 0;
        putchar(digits[in[0] >> 2]);
        putchar(digits[(in[0] & 3) << 4 | in[1] >> 4]);
        putchar(n > 1 ? digits[(in[1] & 15) << 2 | in[2] >> 6] : '=');
        putchar(n > 2 ? digits[in[2] & 63] : '=');
    }
    putchar('\n');
}

static int decode(void)
{
    unsigned bits = 0;
    int c, have = 0, padding = 0;
    while ((c = getchar()) != EOF) {
        if (c == '\n' || c == '\r')
            continue;
        if (c == '=') {
            padding++;
            continue;
        }
        const char *at = c ? strchr(digits, c) : NULL;
        if (!at || padding) {
            fprintf(stderr, "bad character\n");
            return 1;
        }
        bits = bits << 6 | (unsigned)(at - digits);
        if (++have == 4) {
            putchar(bits >> 16 & 255);
            putchar(bits >> 8 & 255);
            putchar(bits & 255);
            bits = 0;
            have = 0;
        }
    }
    if (have == 1 || (have && have + padding != 4)) {
        fprintf(stderr, "bad length\n");
        return 1;
    }
    if (have >= 2)
        putchar(have == 2 ? bits >> 4 & 255 : bits >> 10 & 255);
    if (have == 3)
        putchar(bits >> 2 & 255);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "-d") == 0)
        return decode();
    if (argc > 1) {
        fprintf(stderr, "usage: base64 [-d]\n");
        return 2;
    }
    encode();
    return 0;
}
