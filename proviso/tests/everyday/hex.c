#include <stdio.h>
#include <string.h>

static int nibble(int c)
{
    if ('0' <= c && c <= '9') return c - '0';
    if ('a' <= c && c <= 'f') return c - 'a' + 10;
    if ('A' <= c && c <= 'F') return c - 'A' + 10;
    return -1;
}

static int decode(void)
{
    int c, high = -1;
    while ((c = getchar()) != EOF) {
        if (c == ' ' || c == '\n') continue;
        int n = nibble(c);
        if (n == -1) {
            fprintf(stderr, "bad digit %c\n", c);
            return 1;
        }
        if (high == -1) high = n;
        else {
            putchar(high * 16 + n);
            high = -1;
        }
    }
    if (high != -1) {
        fprintf(stderr, "odd number of digits\n");
        return 1;
    }
    return 0;
}

static int encode(int width)
{
    int c, column = 0;
    while ((c = getchar()) != EOF) {
        printf("%02x", c);
        if (width && ++column == width) {
            putchar('\n');
            column = 0;
        }
    }
    if (column) putchar('\n');
    return 0;
}

int main(int argc, char **argv)
{
    int width = 16, d = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-d") == 0) d = 1;
        else if (strcmp(argv[i], "-w") == 0 && i + 1 < argc) {
            if (sscanf(argv[++i], "%d", &width) != 1 || width < 0) {
                fprintf(stderr, "bad width\n");
                return 2;
            }
        } else {
            fprintf(stderr, "usage: hex [-d] [-w WIDTH]\n");
            return 2;
        }
    }
    return d ? decode() : encode(width);
}
