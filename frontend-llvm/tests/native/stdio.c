#define _GNU_SOURCE
#include "harness.h"

extern int model_snprintf(char *, size_t, const char *, ...);
extern int model_sprintf(char *, const char *, ...);
extern int model_printf(const char *, ...);
extern int model_asprintf(char **, const char *, ...);
extern int model_sscanf(const char *, const char *, ...);

static int64_t random_integer(void) {
    int64_t x = random_bits() >> random_below(64);
    return random_below(2) ? x : -x;
}

// A conversion specification with random flags, width and precision, without the conversion.
static char *random_spec(char *s) {
    s += sprintf(s, "%%");
    for (unsigned n = random_below(4); n > 0; n--)
        *s++ = "-+ #0"[random_below(5)];
    if (random_below(2))
        s += sprintf(s, "%u", 1 + random_below(24));
    if (random_below(2))
        s += sprintf(s, random_below(8) ? ".%u" : ".", random_below(24));
    *s = 0;
    return s;
}

#define COMPARE(format, ...)                                                                                         \
    {                                                                                                                \
        char real[512], model[512], *allocated;                                                                      \
        memset(real, '#', sizeof real);                                                                              \
        memset(model, '#', sizeof model);                                                                            \
        size_t size = random_below(3) ? sizeof real : random_below(10);                                              \
        START;                                                                                                       \
        int n = snprintf(real, size, format, __VA_ARGS__), m = model_snprintf(model, size, format, __VA_ARGS__);     \
        EXPECT(approximated || n == m, "\"%s\": %d, model %d: \"%.60s\" \"%.60s\"", format, n, m, real, model);         \
        EXPECT(approximated || memcmp(real, model, sizeof real) == 0, "\"%s\": \"%s\", model \"%s\"", format,        \
               real, model);                                                                                         \
        if (!approximated) {                                                                                         \
            exact++;                                                                                                 \
            m = model_sprintf(model, format, __VA_ARGS__);                                                           \
            sprintf(real, format, __VA_ARGS__);                                                                      \
            EXPECT(n == m && strcmp(real, model) == 0, "sprintf: \"%s\": \"%s\" \"%s\"", format, real, model);       \
            m = model_printf(format, __VA_ARGS__);                                                                   \
            EXPECT(approximated || n == m, "printf: \"%s\" gives %d, model %d", format, n, m);                       \
            if (!approximated) {                                                                                     \
                m = model_asprintf(&allocated, format, __VA_ARGS__);                                                 \
                EXPECT(n == m && strcmp(real, allocated) == 0, "asprintf: \"%s\"", format);                          \
                free(allocated);                                                                                     \
            }                                                                                                        \
        }                                                                                                            \
    }

static long exact;

static void integers(void) {
    char format[64];
    int64_t x = random_integer();
    struct {
        const char *length;
        int size;
    } lengths[] = {{"hh", 4}, {"h", 4}, {"", 4}, {"l", 8}, {"ll", 8}, {"j", 8}, {"z", 8}, {"t", 8}}, length = lengths[random_below(8)];
    char conversion = "diuoxX"[random_below(6)];
    sprintf(random_spec(format), "%s%cend", length.length, conversion);
    if (length.size == 4)
        COMPARE(format, (int)x)
    else
        COMPARE(format, x)
    sprintf(format, "a%%*.*%c%%%%", conversion);
    int width = (int)random_below(40) - 20, precision = (int)random_below(20) - 5;
    COMPARE(format, width, precision, (int)x)
}

static void others(void) {
    char format[64], text[16];
    unsigned n = random_below(15);
    for (unsigned i = 0; i < n; i++)
        text[i] = 'a' + random_below(26);
    text[n] = 0;
    strcpy(random_spec(format), "s|");
    char *string = random_below(20) ? text : NULL;
    COMPARE(format, string)
    // `0` with these is undefined.
    sprintf(format, "<%%%s%uc>%%p", random_below(2) ? "-" : "", 1 + random_below(9));
    int c = random_below(256);
    COMPARE(format, c, string)
    int real = -1, model = -1;
    char buffer[64];
    long real_long = -1, model_long = -1;
    snprintf(buffer, sizeof buffer, "%s%n12%d%ln", text, &real, n, &real_long);
    model_snprintf(buffer, sizeof buffer, "%s%n12%d%ln", text, &model, n, &model_long);
    EXPECT(real == model && real_long == model_long, "%%n: %d, model %d", real, model);
}

static void reals(void) {
    char format[64];
    static const double special[] = {0.0, -0.0, 0.5, 1.5, 2.5, 0.125, 9.9999995, 999999.9999995, 1e15, 0x1p63,
                                     0x1.fffffffffffffp63, 0x1p64, 0x1p-72, 1e-7, 5e-7, INFINITY, -INFINITY, NAN, 1e300};
    double x = random_below(4) ? (double)random_integer() / (1ull << random_below(64)) : special[random_below(19)];
    strcpy(random_spec(format), "f,");
    COMPARE(format, x)
    sprintf(format, "%%.%uF", random_below(5));
    x = (double)(int)random_bits() / (1 << random_below(16));
    COMPARE(format, x)
    COMPARE("%f %d", x, 7)
    long before = exact;
    COMPARE("%f", x)
    EXPECT(exact == before + 1, "%%f of %g is exact", x);
    // Only that later arguments are found.
    int model = 0;
    START;
    model_snprintf(format, sizeof format, "%e %g %La %d%n", x, x, (long double)x, 1, &model);
    EXPECT(approximated && model > 0, "%%e is approximated");
}

static void scanning(void) {
    static const char *const texts[] = {"12", "-7", " 0x1f", "017", "abc", "a-b", ",", " ", "99999999999", "1.5", "2e3",
                                        "x", "%", "-", "+5", "0x", "0b11", "]", "^", "9223372036854775808", "inf", "\n"};
    static const char *const formats[] = {"%d", "%i", "%u", "%x", "%o", " ", ",", "%s", "%3s", "%[a-c]", "%[^,]", "%c",
                                          "%2c", "%hd", "%ld", "%lld", "%hhd", "%2d", "%n", "%*d", "%*s", "%%", "%5i",
                                          "%lf", "%f", "%[]a]", "x", "%zu", "%1x", "%3x", "%*c", "%lu", "%hu", "%[^]]"};
    char text[128] = "", format[64] = "";
    for (unsigned n = random_below(5); n > 0; n--)
        strcat(text, texts[random_below(22)]);
    for (unsigned n = 1 + random_below(4); n > 0; n--)
        strcat(format, formats[random_below(34)]);
    char real[5][64], model[5][64];
    memset(real, '#', sizeof real);
    memset(model, '#', sizeof model);
    START;
    int n = sscanf(text, format, real[0], real[1], real[2], real[3], real[4]);
    int m = model_sscanf(text, format, model[0], model[1], model[2], model[3], model[4]);
    EXPECT(approximated || n == m, "sscanf(\"%s\", \"%s\"): %d, model %d", text, format, n, m);
    EXPECT(approximated || memcmp(real, model, sizeof real) == 0, "sscanf(\"%s\", \"%s\") stores", text, format);
}

// Input of the environment obeys the format.
static void input(void) {
    extern int model_scanf(const char *, ...);
    int a = 1234;
    char word[8], letters[8];
    unsigned char b;
    if (setjmp(no_path))
        return;
    memset(word, '#', 8);
    memset(letters, '#', 8);
    int items = model_scanf("%2d %7s%3[x-z]%2c", &a, word, letters, &b);
    EXPECT(items >= -1 && items <= 4, "scanf gives %d", items);
    EXPECT(items < 1 ? a == 1234 : a > -10 && a < 100, "%%2d gives %d", a);
    if (items >= 2)
        EXPECT(strnlen(word, 8) >= 1 && strnlen(word, 8) <= 7 && !strpbrk(word, " \n"), "%%7s");
    if (items >= 3)
        EXPECT(strnlen(letters, 8) >= 1 && strspn(letters, "xyz") == strlen(letters), "%%[x-z]");
}

static void lines(void) {
    extern void *model_stdin;
    extern char *model_fgets(char *, int, void *);
    extern int model_feof(void *), model_ungetc(int, void *), model_getchar(void);
    extern ssize_t model_getline(char **, size_t *, void *);
    extern void model_clearerr(void *);
    model_clearerr(model_stdin);
    char buffer[16];
    if (setjmp(no_path))
        return;
    memset(buffer, '#', 16);
    scripted = 1;
    script_int = random_below(4) ? 'x' : '\n';
    char *line = model_fgets(buffer, 5, model_stdin);
    EXPECT(line == buffer && strcmp(line, script_int == 'x' ? "xxxx" : "\n") == 0 && buffer[5] == '#', "fgets");
    EXPECT(model_ungetc('y', model_stdin) == 'y' && model_getchar() == 'y', "ungetc");
    script_int = '\n';
    char *allocated = NULL;
    size_t size = 0;
    EXPECT(model_getline(&allocated, &size, model_stdin) == 1 && allocated[0] == '\n' && !allocated[1], "getline");
    free(allocated);
    script_int = EOF;
    buffer[0] = 'q';
    EXPECT(!model_fgets(buffer, 5, model_stdin) && buffer[0] == 'q', "fgets at the end");
    scripted = 0;
}

void test(void) {
    static int i;
    for (i = 0; i < 20000; i++) {
        integers();
        others();
        scanning();
        input();
        lines();
        scripted = 0;
        if (!setjmp(no_path))
            reals();
    }
}
