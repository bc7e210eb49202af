/* Run-length encoding: "aaab" <-> "3a1b". */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *encode(const char *s)
{
    char *out = malloc(2 * strlen(s) + 1), *o = out;
    if (out == NULL)
        return NULL;
    while (*s) {
        int n = 1;
        while (n < 9 && s[n] == s[0])
            n++;
        *o++ = (char)('0' + n);
        *o++ = *s;
        s += n;
    }
    *o = '\0';
    return out;
}

static char *decode(const char *s)
{
    char *out = malloc(9 * strlen(s) + 1), *o = out;
    if (out == NULL)
        return NULL;
    while (*s) {
        if (!isdigit((unsigned char)*s) || *s == '0' || s[1] == '\0') {
            free(out);
            return NULL;
        }
        for (int n = *s - '0'; n > 0; n--)
            *o++ = s[1];
        s += 2;
    }
    *o = '\0';
    return out;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        printf("usage: rle e|d text\n");
        return 2;
    }
    char *result;
    if (argv[1][0] == 'e')
        result = encode(argv[2]);
    else if (argv[1][0] == 'd')
        result = decode(argv[2]);
    else
        return 2;
    if (result == NULL) {
        printf("failed\n");
        return 1;
    }
    printf("%s\n", result);
    if (strlen(result) < strlen(argv[2]))
        printf("shorter\n");
    free(result);
    return 0;
}
