// wchar.h: formatted output and streams of wide characters.
#include "harness.h"
#include <fcntl.h>
#include <unistd.h>
#include <wchar.h>

static FILE *nowhere(void) {
    asks_environment();
    return LIB(fopen)("/dev/null", "w");
}

// Converts a format to wide characters.
static wchar_t *widened(const char *format) {
    static wchar_t wide[200];
    size_t n = 0;
    for (; format[n]; n++)
        wide[n] = (unsigned char)format[n];
    wide[n] = 0;
    return wide;
}

// A conversion specification with random flags, width and precision, without the conversion.
static void specification(char *s) {
    s += sprintf(s, "<%%");
    for (unsigned n = random_below(4); n > 0; n--)
        *s++ = "-+ #"[random_below(4)];
    if (random_below(2))
        s += sprintf(s, "%u", 1 + random_below(24));
    if (random_below(2))
        s += sprintf(s, random_below(8) ? ".%u" : ".", random_below(24));
    *s = 0;
}

// Prints to a buffer that may be too small, to a large one, and to a stream.
#define PRINT(format, ...)                                                                                           \
    {                                                                                                                \
        say("format \"%s\"", format);                                                                                \
        wchar_t *wide = widened(format);                                                                             \
        size_t size = random_below(3) ? 100 : random_below(12);                                                      \
        see(LIB(swprintf)((wchar_t *)room(size * sizeof(wchar_t)), size, wide, ##__VA_ARGS__));                      \
        FILE *file = nowhere();                                                                                      \
        see(LIB(fwprintf)(file, wide, ##__VA_ARGS__));                                                               \
        see(LIB(fclose)(file));                                                                                      \
    }

DRIVER(wprintf_integers) {
    char format[64];
    int64_t x = random_integer();
    _Bool large = random_below(2);
    specification(format);
    sprintf(format + strlen(format), "%s%c>%%%%", large ? "ll" : "", "diuoxX"[random_below(6)]);
    if (large)
        PRINT(format, (long long)x)
    else
        PRINT(format, (int)x)
}
static char *some_bytes(void) {
    return random_below(12) ? random_string(14, random_below(2) ? "ab%" : "abcdefgh\xe4") : NULL;
}
static wchar_t *some_wide(void) {
    if (!random_below(12))
        return NULL;
    wchar_t *s = (wchar_t *)room(15 * sizeof(wchar_t));
    unsigned n = random_below(14);
    for (unsigned i = 0; i < n; i++)
        s[i] = random_below(14) ? L'a' + (wchar_t)random_below(26) : ONE_OF(0xe4, 0x20ac, -5, 0x7fffffff);
    s[n] = 0;
    return s;
}
DRIVER(wprintf_strings) {
    char format[64];
    specification(format);
    strcat(format, "s>");
    char *s = some_bytes();
    PRINT(format, s)
}
DRIVER(wprintf_wide_strings) {
    char format[64];
    specification(format);
    strcat(format, random_below(3) ? "ls>" : "S>");
    wchar_t *s = some_wide();
    PRINT(format, s)
}
DRIVER(wprintf_characters) {
    char format[64];
    sprintf(format, "\xe4%%%s%u%s>%%p", random_below(2) ? "-" : "", 1 + random_below(9), ONE_OF("c", "lc", "C"));
    int c = random_below(300);
    void *pointer = random_below(4) ? (void *)(uintptr_t)random_integer() : NULL;
    PRINT(format, c, pointer)
}
DRIVER(wprintf_counts) {
    int count = -1;
    short other = -1;
    see(LIB(swprintf)((wchar_t *)room(40 * sizeof(wchar_t)), random_below(30), L"%5d%n%*.*x%hn", (int)random_integer(),
                      &count, (int)random_below(12) - 5, (int)random_below(9) - 3, (int)random_integer(), &other));
    see(count), see(other);
}
DRIVER(wprintf_fixed) {
    char format[64];
    specification(format);
    strcat(format, "f>");
    double x = (double)random_integer() / (1ull << random_below(64));
    see(LIB(swprintf)((wchar_t *)room(100 * sizeof(wchar_t)), 100, widened(format), x));
}
DRIVER(wprintf_odd) {
    const char *format = ONE_OF("100%", "%", "%%", "", "%5%|");
    PRINT(format)
}
DRIVER(wprintf) {
    asks_environment();
    see(LIB(freopen)("/dev/null", "w", LIB(stdout)) != NULL);
    see(LIB(wprintf)(L"%d\x20ac %ls\n", (int)random_integer(), some_wide()));
}

// Wide characters and strings by printf.
static void print_narrow(const char *format, const void *s, wint_t c, _Bool string) {
    say("format \"%s\"", format);
    size_t size = random_below(3) ? 100 : random_below(12);
    char *buffer = size ? room(size) : NULL, *allocated = NULL;
    if (string) {
        see(LIB(snprintf)(buffer, size, format, s));
        see(LIB(asprintf)(&allocated, format, s));
    } else {
        see(LIB(snprintf)(buffer, size, format, c));
        see(LIB(asprintf)(&allocated, format, c));
    }
    see_text(allocated);
    if (allocated)
        release(allocated);
}
DRIVER(printf_wide_strings) {
    char format[64];
    specification(format);
    strcat(format, random_below(3) ? "ls>" : "S>");
    print_narrow(format, some_wide(), 0, 1);
}
DRIVER(printf_wide_characters) {
    char format[64];
    sprintf(format, "a%%%s%u%s>", random_below(2) ? "-" : "", 1 + random_below(9), random_below(2) ? "lc" : "C");
    print_narrow(format, NULL, random_below(5) ? random_below(140) : (wint_t)random_bits(), 0);
}

DRIVER(wide_output) {
    asks_environment();
    FILE *file = nowhere();
    see(LIB(fwide)(file, 0));
    for (int i = 0; i < 4; i++) {
        wchar_t c = (wchar_t)random_bits();
        switch (random_below(4)) {
        case 0:
            see(LIB(fputwc)(random_below(2) ? c : L'x', file));
            break;
        case 1:
            see(LIB(putwc)(L'a', file));
            break;
        case 2:
            see(LIB(fputws)(random_below(2) ? L"" : L"ab", file));
            break;
        default:
            see(LIB(fwide)(file, (int)random_below(2)));
        }
        see(LIB_ERRNO);
        see(LIB(ferror)(file) != 0);
    }
    see(LIB(fclose)(file));
}
DRIVER(wide_wrong_direction) {
    asks_environment();
    FILE *in = LIB(fopen)("/dev/null", "r");
    switch (random_below(3)) {
    case 0:
        see(LIB(fputwc)(L'x', in));
        break;
    case 1:
        see(LIB(fputws)(L"x", in));
        break;
    default:
        see(LIB(fwprintf)(in, L"x"));
    }
    see(LIB_ERRNO);
    see(LIB(ferror)(in) != 0);
    see(LIB(fclose)(in));
}

DRIVER(wide_input) {
    asks_environment();
    enum { LENGTH = 12 };
    static char path[40], content[LENGTH];
    unsigned length = random_below(LENGTH);
    const char *letters = random_below(3) ? "abc\n" : "ab\n\xe4";
    for (unsigned i = 0; i < length; i++)
        content[i] = letters[random_below(4)];
    NATIVELY {
        sprintf(path, "/tmp/proviso-test-wide-%d", (int)getpid());
        unlink(path);
        int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
        write(file, content, length);
        close(file);
    }
    FILE *file = LIB(fopen)(path, "r");
    see(file != NULL);
    NATIVELY {
        suggest_nothing();
        for (unsigned i = 0; i < length; i++)
            suggest((unsigned char)content[i]);
        suggest(EOF);
    }
    _Bool failed = 0;
    for (int i = 0; i < 5; i++) {
        switch (random_below(failed ? 3 : 4)) {
        case 0:
            see(LIB(fgetwc)(file));
            break;
        case 1:
            see(LIB(getwc)(file));
            break;
        case 2: {
            unsigned n = random_below(7);
            wchar_t *line = (wchar_t *)room(n * sizeof(wchar_t));
            see_pointer(LIB(fgetws)(line, n, file));
            break;
        }
        default:
            see(LIB(ungetwc)(L'u', file));
            see(LIB(fgetwc)(file));
        }
        failed = LIB(ferror)(file) != 0;
        see(failed);
        see(LIB(feof)(file) != 0);
        see(LIB_ERRNO);
    }
    see(LIB(fclose)(file));
}

// Input from strings. The library writes two nulls after a word of bytes. If the bytes were null before, this has no effect.
DRIVER(swscanf) {
    may_approximate();
    static const char *const texts[] = {"12", "-7", " 0x1f", "abc", "a-b", ",", " ", "1.5", "2e3", "x", "%", "in", "\n"};
    static const char *const formats[] = {"%d", "%i", "%x", " ", ",", "%s", "%3s", "%[a-c]", "%[^,]", "%c", "%2c", "%ld",
                                          "%n", "%*d", "%*s", "%%", "%lf", "%ls", "%2lc", "%l[a-c]", "%C", "%3S", "%*ls"};
    char text[128] = "", format[64] = "";
    for (unsigned n = random_below(5); n > 0; n--)
        strcat(text, texts[random_below(sizeof texts / sizeof *texts)]);
    for (unsigned n = 1 + random_below(4); n > 0; n--)
        strcat(format, formats[random_below(sizeof formats / sizeof *formats)]);
    say("swscanf(\"%s\", \"%s\")", text, format);
    wchar_t wide[128];
    for (size_t i = 0; i <= strlen(text); i++)
        wide[i] = text[i];
    char(*out)[80] = memset(room(320), 0, 320);
    NATIVELY {
        double first[4][10] = {0};
        swscanf(wide, widened(format), first[0], first[1], first[2], first[3]);
        for (int i = 0; i < 4; i++)
            suggest_real(first[i][0]);
    }
    see(LIB(swscanf)(wide, widened(format), out[0], out[1], out[2], out[3]));
}
DRIVER(fwscanf) {
    asks_environment();
    FILE *file = LIB(fopen)("/dev/null", "r");
    see(file != NULL);
    int number = 7;
    see(LIB(fwscanf)(file, L"%d", &number));
    see(number);
    see(LIB(feof)(file) != 0);
    see(LIB(fclose)(file));
}
