/* Library functions on text: formatted output and input, numbers, tokens, classes; with errno. */
#include "report.h"
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

static unsigned hash = 1, state = 12345;
static unsigned any(void) { return state = state * 1664525u + 1013904223u, state >> 8; }
static void text(const char *s) { while (*s) hash = fold(hash, (unsigned char)*s++); hash = fold(hash, 256); }
static void number(long long x) { hash = fold(hash, x); }

static void output(void) {
    char buffer[200], *allocated;
    for (int i = 0; i < 12; i++) {
        int x = (int)any() - (int)any();
        long long y = (long long)x * any() * 7;
        number(snprintf(buffer, i * 3, "%d|%u|%x", x, x, x));
        if (i) text(buffer);
        number(sprintf(buffer, "%-12d|%+08d|% .5d|%#x|%#o|%X", x, x % 1000, x % 100, x, x, x));
        text(buffer);
        number(sprintf(buffer, "%lld %llu %llx %hhd %hd %ld %zu", y, y, y, x, x, (long)x, (size_t)x));
        text(buffer);
        sprintf(buffer, "%*s|%-*s|%.*s|%c%%%5c", i, "ab", i, "cd", i, "efghij", 'x', 'y');
        text(buffer);
        sprintf(buffer, "%f %.0f %.3f %8.2f %-9.1f| %+.10f", x / 8.0, x / 2.0, x / 3.0, x / 7.0, -x / 9.0, 1.0 / (1 + i));
        text(buffer);
        int count = 0;
        sprintf(buffer, "%s%n!", "counted", &count);
        number(count);
    }
}

static void input(void) {
    static const char *const lines[] = {"12 -7 abc", "0x1f,077;q", "  +5 2147483648 z", "name=value # comment", "3.25 -1e3 .5"};
    for (int i = 0; i < 5; i++) {
        int a = -1, b = -1, n = -1;
        unsigned u = 7;
        char s[40] = "none", t[40] = "none", c = '?';
        double d = 0, e = 0;
        float f = 0;
        number(sscanf(lines[i], "%d %d %s", &a, &b, s));
        number(a), number(b), text(s);
        number(sscanf(lines[i], "%i,%o;%c%n", &a, &u, &c, &n));
        number(a), number(u), number(c), number(n);
        number(sscanf(lines[i], "%[^=]=%5[a-z] # %s", s, t, s + 20));
        text(s), text(t);
        number(sscanf(lines[i], "%lf %lf %f", &d, &e, &f));
        number(d * 8), number(e * 8), number(f * 8);
    }
}

static void numbers(void) {
    static const char *const all[] = {"0", "-1", " 42x", "0x7f", "077", "zz", "99999999999999999999", "-99999999999999999999",
                                      "", "+", "0x", "2147483648", "9223372036854775807", "-9223372036854775808"};
    for (int i = 0; i < 14; i++)
        for (int base = 0; base <= 36; base += base == 0 ? 8 : 7) {
            char *end;
            errno = 0;
            number(strtol(all[i], &end, base));
            number(errno), number(end - all[i]);
            errno = 0;
            number(strtoull(all[i], &end, base));
            number(errno), number(end - all[i]);
        }
    number(atoi("  -123abc")), number(atol("77")), number(atoll("-5000000000"));
    number(strtod("3.25e2xyz", NULL) * 4), number(atof("-0.125") * 8), number(strtod("0x1.8p3", NULL));
    errno = 0;
    number(strtol("1", NULL, 99)), number(errno);
}

static void words(void) {
    char line[] = "the quick, brown;fox  jumps -- over", *rest = line, *word;
    for (word = strtok(line, " ,;-"); word; word = strtok(NULL, " ,;-")) text(word), number(strlen(word));
    char again[] = "a:b::c";
    rest = again;
    while ((word = strsep(&rest, ":"))) text(word);
    char *copy = strdup("duplicate");
    text(copy);
    number(strcspn(copy, "il")), number(strspn(copy, "dup")), number(strcasecmp(copy, "DUPLICATE"));
    text(strpbrk(copy, "xyzc")), text(strrchr(copy, 'a')), text(strstr(copy, "lic"));
    free(copy);
    for (int c = -1; c < 256; c++)
        number(isalpha(c) * 2 + isdigit(c) * 3 + isspace(c) * 5 + ispunct(c) * 7 + isxdigit(c) * 11 + iscntrl(c) * 13 +
               !!isprint(c) + toupper(c) + tolower(c));
}

int main(void) {
    output();
    input();
    numbers();
    words();
    report(hash);
}
