/* Replaces characters of standard input; sets may have ranges and escapes. */
#include <stdio.h>
#include <string.h>

static int next(const char **s)
{
    int c = (unsigned char)*(*s)++;
    if (c != '\\')
        return c;
    switch (c = (unsigned char)**s) {
    case '\0': return '\\';
    case 'n': c = '\n'; break;
    case 't': c = '\t'; break;
    }
    ++*s;
    return c;
}

static int expand(const char *s, unsigned char *out)
{
    int length = 0;
    while (*s) {
        int from = next(&s), to = from;
        if (s[0] == '-' && s[1]) {
            s++;
            to = next(&s);
            if (to < from)
                return -1;
        }
        for (; from <= to; from++) {
            if (length == 256)
                return -1;
            out[length++] = (unsigned char)from;
        }
    }
    return length;
}

int main(int argc, char **argv)
{
    unsigned char from[256], to[256], map[256];
    int delete = argc == 3 && !strcmp(argv[1], "-d"), dropped[256] = {0};
    if (argc != 3) {
        fprintf(stderr, "usage: tr set set | tr -d set\n");
        return 1;
    }
    int many = expand(argv[delete ? 2 : 1], from);
    int others = delete ? 0 : expand(argv[2], to);
    if (many < 0 || others < 0) {
        fprintf(stderr, "tr: bad range\n");
        return 1;
    }
    if (!delete && others == 0) {
        fprintf(stderr, "tr: empty set\n");
        return 1;
    }
    for (int i = 0; i < 256; i++)
        map[i] = (unsigned char)i;
    for (int i = 0; i < many; i++) {
        if (delete)
            dropped[from[i]] = 1;
        else
            map[from[i]] = to[i < others ? i : others - 1];
    }
    int c;
    while ((c = getchar()) != EOF)
        if (!dropped[c])
            putchar(map[c]);
    return 0;
}
