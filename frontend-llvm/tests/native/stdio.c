// stdio.h: formatted output and input of strings, streams.
#include "harness.h"
#include <mntent.h>
#include <fcntl.h>
#include <stdio_ext.h>
#include <unistd.h>

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

// Prints the same to a buffer that may be too small, to a large one, to an allocated one, and to a stream.
static size_t limit(void) { return random_below(3) ? 200 : random_below(12); }
static FILE *nowhere(void) {
    asks_environment();
    return LIB(fopen)("/dev/null", "w");
}
#define PRINT(format, ...)                                                                                           \
    {                                                                                                                \
        say("format \"%s\"", format);                                                                                \
        size_t size = limit();                                                                                       \
        see(LIB(snprintf)(size ? room(size) : NULL, size, format, ##__VA_ARGS__));                                   \
        see(LIB(sprintf)(room(400), format, ##__VA_ARGS__));                                                         \
        char *allocated = NULL;                                                                                      \
        see(LIB(asprintf)(&allocated, format, ##__VA_ARGS__));                                                       \
        see_text(allocated);                                                                                         \
        release(allocated);                                                                                          \
        see(LIB(printf)(format, ##__VA_ARGS__));                                                                     \
    }

static const char *length_of_argument;
static int argument_size(void) {
    unsigned n = random_below(10);
    static const char *const lengths[] = {"hh", "h", "", "l", "ll", "j", "z", "t", "q", "L"};
    static const int sizes[] = {4, 4, 4, sizeof(long), 8, 8, sizeof(size_t), sizeof(size_t), 8, 8};
    length_of_argument = lengths[n];
    return sizes[n];
}
DRIVER(printf_integers) {
    char format[64];
    int64_t x = random_integer();
    int size = argument_size();
    sprintf(random_spec(format), "%s%cend", length_of_argument, "diuoxX"[random_below(6)]);
    say("of %lld", (long long)x);
    if (size == 4)
        PRINT(format, (int)x)
    else
        PRINT(format, (long long)x)
}
DRIVER(printf_stars) {
    char format[64];
    sprintf(format, "a%%%s*.*%c%%%%", ONE_OF("", "-", "0", "+"), "diuoxX"[random_below(6)]);
    int width = (int)random_below(40) - 20, precision = (int)random_below(20) - 5;
    PRINT(format, width, precision, (int)random_integer())
}
DRIVER(printf_strings) {
    char format[64], text[20] = "";
    for (unsigned n = random_below(18); n > 0; n--)
        strcat(text, ONE_OF("a", "%", "\xff", " "));
    strcpy(random_spec(format), "s|");
    char *string = random_below(20) ? text : NULL;
    PRINT(format, string)
}
DRIVER(printf_characters) {
    char format[64];
    // The flag `0` with these conversions is undefined.
    sprintf(format, "<%%%s%uc>%%p", random_below(2) ? "-" : "", 1 + random_below(9));
    char *pointer = random_below(4) ? (char *)(uintptr_t)random_integer() : NULL;
    PRINT(format, (int)random_below(256), pointer)
}
DRIVER(printf_counts) {
    long long a = -1, b = -1, c = -1, d = -1, e = -1;
    see(LIB(snprintf)(room(30), 30, "%s%n12%hhn%d%ln%hn%lln", random_string(40, "xy"), (int *)&a, (char *)&b,
                      (int)random_integer(), (long *)&c, (short *)&d, &e));
    see(a), see(b), see(c), see(d), see(e);
}
DRIVER(printf_errors) {
    may_approximate();
    int error = random_below(140);
    LIB_ERRNO = error;
    NATIVELY {
        suggest(strlen(strerror(error)));
        suggest_bytes(strerror(error), strlen(strerror(error)));
    }
    see(LIB(snprintf)(room(70), 70, "%m"));
}
DRIVER(printf_odd) {
    // Unknown conversions are printed unchanged.
    const char *format = ONE_OF("100%", "a%", "%%", "", "%5%|", "%-5%|");
    PRINT(format)
}

// Typical numbers with %f are printed exactly.
DRIVER(printf_fixed) {
    char format[64];
    strcpy(random_spec(format), random_below(2) ? "f," : "lF,");
    double x = random_below(4) ? (double)random_integer() / (1ull << random_below(64))
                               : ONE_OF(0.0, -0.0, 0.5, 1.5, 2.5, 0.125, 9.9999995, 999999.9999995, 1e15, 0x1p62,
                                        0x1.fffffffffffffp63, 1e-7, 5e-7, (double)INFINITY, -(double)INFINITY);
    say("format \"%s\" of %.20g", format, x);
    see(LIB(snprintf)(room(200), 200, format, x));
}
// For all other numbers, the text is arbitrary, and its length has bounds.
#define PRINT_REAL(format, x)                                                                                        \
    {                                                                                                                \
        say("format \"%s\" of %La", format, (long double)x);                                                         \
        NATIVELY {                                                                                                   \
            static char text[6000];                                                                                  \
            int length = snprintf(text, sizeof text, format, x);                                                     \
            suggest(length);                                                                                         \
            suggest_bytes(text, length);                                                                             \
        }                                                                                                            \
        see(LIB(snprintf)(room(420), 420, format, x));                                                               \
        NATIVELY suggest_nothing();                                                                                  \
        see(LIB(printf)(format, x));                                                                                 \
    }
DRIVER(printf_reals) {
    may_approximate();
    char format[64];
    char *end = random_spec(format);
    double x = random_double();
    *end++ = "fFeEgGaA"[random_below(8)];
    *end = 0;
    PRINT_REAL(format, x)
}
DRIVER(printf_long_reals) {
    may_approximate();
    char format[64];
    char *end = random_spec(format);
    long double x = random_below(2) ? random_double() : random_longdouble();
    *end++ = 'L';
    *end++ = "fFeEgGaA"[random_below(8)];
    *end = 0;
    PRINT_REAL(format, x)
}

// Input from strings.
DRIVER(sscanf) {
    may_approximate();
    static const char *const texts[] = {"12", "-7", " 0x1f", "017", "abc", "a-b", ",", " ", "99999999999", "1.5", "2e3",
                                        "x", "%", "-", "+5", "0x", "0b11", "]", "^", "9223372036854775808", "inf",
                                        "\n", "nan", "1e", "0x1p", "in", "5", ".5"};
    static const char *const formats[] = {"%d", "%i", "%u", "%x", "%o", " ", ",", "%s", "%3s", "%[a-c]", "%[^,]", "%c",
                                          "%2c", "%hd", "%ld", "%lld", "%hhd", "%2d", "%n", "%*d", "%*s", "%%", "%5i",
                                          "%lf", "%f", "%[]a]", "x", "%zu", "%1x", "%3x", "%*c", "%lu", "%hu", "%[^]]",
                                          "%*[a-c]", "%ln", "%hhn", "%Lf", "%*f", "%p", "%jd", "%td", "%5lf", "%[a-]",
                                          "%[^a-c-]", "%X", "%qd", "%hhx", "%1f", "%2f",
                                          "%3lf", "%4f", "%ls", "%2lc", "%l[a-c]", "%C", "%3S", "%*ls"};
    char text[128] = "", format[64] = "";
    for (unsigned n = random_below(5); n > 0; n--)
        strcat(text, texts[random_below(sizeof texts / sizeof *texts)]);
    for (unsigned n = 1 + random_below(4); n > 0; n--)
        strcat(format, formats[random_below(sizeof formats / sizeof *formats)]);
    say("sscanf(\"%s\", \"%s\")", text, format);
    char(*out)[64] = (void *)room(320);
    NATIVELY {
        union {
            char bytes[64];
            float narrow;
            double real;
            long double wide;
        } first[5];
        memset(first, 0, sizeof first);
        sscanf(text, format, &first[0], &first[1], &first[2], &first[3], &first[4]);
        for (int i = 0; i < 5; i++) {
            suggest_real(first[i].narrow);
            suggest_real(first[i].real);
            suggest_real(first[i].wide);
        }
    }
    see(LIB(sscanf)(text_in_room(text), format, out[0], out[1], out[2], out[3], out[4]));
}

DRIVER(sscanf_allocated) {
    static const char *const formats[] = {"%ms", "%m[a-c]", "%mc", "%2mc", "%mls", " ", "%1ms", ",", "%m[^,]", "%ml[ab]"};
    char text[64] = "", format[64] = "";
    for (unsigned n = random_below(5); n > 0; n--)
        strcat(text, ONE_OF("ab", "a", " ", ",", "xyz", "a longer word"));
    for (unsigned n = 1 + random_below(4); n > 0; n--)
        strcat(format, formats[random_below(sizeof formats / sizeof *formats)]);
    say("sscanf(\"%s\", \"%s\")", text, format);
    char *got[4] = {0};
    int items = LIB(sscanf)(text_in_room(text), format, &got[0], &got[1], &got[2], &got[3]);
    see(items);
    for (int i = 0; i < items; i++) {
        see_bytes(got[i], 1);
        release(got[i]);
    }
}
// Incomplete numbers in fields with a width.
DRIVER(sscanf_reals) {
    may_approximate();
    static const char *const parts[] = {"1", "0", "0x", "e", "E+", "p", ".", "-", "inf", "INFINI", "nan", "(", "25", "a"};
    char text[64] = "", format[24];
    for (unsigned n = 1 + random_below(6); n > 0; n--)
        strcat(text, parts[random_below(sizeof parts / sizeof *parts)]);
    sprintf(format, random_below(3) ? "%%%ulf%%n%%3s" : "%%lf%%n%%3s", 1 + random_below(9));
    say("sscanf(\"%s\", \"%s\")", text, format);
    double x = 7;
    int n = -1;
    char rest[4] = "";
    see(LIB(sscanf)(text_in_room(text), format, &x, &n, rest));
    see_real(x);
    see(n);
    see_text(rest);
}

// Streams of a file that the run of the library created. Its content is suggested to the model.
enum { LENGTH = 40 };
static char content[LENGTH];
static unsigned content_length;
static const char *content_file_of(const char *letters) {
    static char path[40];
    content_length = random_below(LENGTH);
    for (unsigned i = 0; i < content_length; i++)
        content[i] = letters[random_below(strlen(letters))];
    NATIVELY {
        sprintf(path, "/tmp/proviso-test-%d", (int)getpid());
        // The file is new, because file systems wait for the disk if the content of a file is replaced.
        unlink(path);
        int file = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
        write(file, content, content_length);
        close(file);
    }
    return path;
}
static const char *content_file(void) { return content_file_of(ONE_OF("ab", "a\n", "abc\n \0\xff", "1 \n")); }
// The position in the file without pushed-back characters. Valid only in the run of the library.
static long at;
// Suggests the characters that are read next.
static void suggest_rest(FILE *file, _Bool pushed) {
    NATIVELY {
        suggest_nothing();
        at = pushed ? at : ftell(file);
        suggest_bytes(content + at, content_length - at);
        suggest(EOF);
    }
}
// Suggests this new size of the buffer and the next characters.
static void suggest_line(size_t room) {
    NATIVELY {
        suggest_nothing();
        suggest(room);
        suggest_bytes(content + at, content_length - at);
        suggest(EOF);
    }
}
static _Bool read_something(FILE *file, _Bool pushed) {
    unsigned n = random_below(12), what = random_below(14);
    say("%u with %u%s", what, n, pushed ? " after pushing" : "");
    switch (what) {
    case 0:
        see(LIB(fgetc)(file));
        return 0;
    case 1:
        see(LIB(getc)(file));
        return 0;
    case 2:
        see_pointer(LIB(fgets)(room(n), n, file));
        return n > 1 ? 0 : pushed;
    case 3: {
        unsigned size = random_below(4);
        NATIVELY {
            suggest_nothing();
            unsigned left = content_length - at, wanted = n * size - (pushed && n * size);
            suggest(left < wanted ? left : wanted);
            suggest_bytes(content + at, left);
        }
        see(LIB(fread)(room(n * size), size, n, file));
        return n * size ? 0 : pushed;
    }
    case 4: {
        char *line = random_below(2) ? NULL : LIB(strdup)("a line");
        size_t size = line ? 7 : 0;
        ssize_t length = LIB(getdelim)(&line, &size, ONE_OF('\n', 'a', ' '), file);
        suggest_line(size);
        see(length);
        if (length >= 0)
            see_bytes(line, length + 1);
        see(size);
        release(line);
        return 0;
    }
    case 5: {
        char *line = NULL;
        size_t size = 0;
        ssize_t length = LIB(getline)(&line, &size, file);
        suggest_line(size);
        see(length);
        see(size);
        release(line);
        return 0;
    }
    case 6:
        if (!pushed) {
            int c = ONE_OF('u', 0xff, 0, EOF, 300, '\n');
            see(LIB(ungetc)(c, file));
            return c != EOF;
        }
        return 1;
    case 7:
        see(LIB(fseek)(file, random_below(content_length + 1), SEEK_SET));
        return 0;
    case 8:
        LIB(rewind)(file);
        return 0;
    case 9:
        LIB(clearerr)(file);
        return pushed;
    case 10: {
        see(LIB(ftell)(file));
        return pushed;
    }
    case 11:
        see(LIB(fflush)(file));
        return 0;
    case 12: {
        fpos_t *position = room(sizeof *position);
        int result = LIB(fgetpos)(file, position);
        see(result);
        if (result == 0 && random_below(2)) {
            see(LIB(fsetpos)(file, position));
            return 0;
        }
        return pushed;
    }
    default:
        return pushed;
    }
}

DRIVER(streams) {
    asks_environment();
    const char *mode = ONE_OF("r", "r+", "rb");
    FILE *file = LIB(fopen)(content_file(), mode);
    see(file != NULL);
    if (mode[1] != '+') {
        see(LIB(__fpending)(file));
        see(LIB(__freading)(file) != 0);
        see(LIB(__freadable)(file) != 0);
        see(LIB(__fwritable)(file) != 0);
    }
    if (random_below(8) == 0)
        see(LIB(freopen)(content_file(), "r", file) == file);
    _Bool pushed = 0;
    for (int i = 0; i < 8; i++) {
        suggest_rest(file, pushed);
        pushed = read_something(file, pushed);
        see(LIB_ERRNO);
        see(LIB(feof)(file) != 0);
        see(LIB(ferror)(file) != 0);
    }
    see(LIB(fclose)(file));
}
// The same operations on standard input.
DRIVER(standard_input) {
    asks_environment();
    see(LIB(freopen)(content_file(), "r", LIB(stdin)) != NULL);
    for (int i = 0; i < 4; i++) {
        suggest_rest(stdin, 0);
        switch (random_below(4)) {
        case 0:
            see(LIB(getchar)());
            break;
        case 1:
            see(LIB(getchar_unlocked)());
            break;
        default:
            read_something(LIB(stdin), 0);
            LIB(rewind)(LIB(stdin));
        }
        see(LIB(feof)(LIB(stdin)) != 0);
    }
}
DRIVER(fscanf) {
    asks_environment();
    FILE *file = LIB(fopen)(content_file(), "r");
    see(file != NULL);
    for (int i = 0; i < 2; i++) {
        int form = random_below(6);
        long long number = 7;
        char word[LENGTH + 1] = "none", letters[5] = "";
        NATIVELY {
            suggest_nothing();
                at = ftell(file);
            char text[LENGTH + 1], first[LENGTH + 1] = "";
            memcpy(text, content + at, content_length - at);
            text[content_length - at] = 0;
            long long x = 0;
            sscanf(text, form == 0 ? "%d" : form == 1 ? "%2d" : "%lld", (int *)&x);
            sscanf(text, form == 3 ? "%s" : "%2s", first);
                if (form < 3)
                suggest(x);
            else if (form < 5)
                suggest_bytes(first, strlen(first));
            else
                suggest_bytes(text, 2);
        }
        int result;
        switch (form) {
        case 0:
            result = LIB(fscanf)(file, "%d", (int *)&number);
            break;
        case 1:
            result = LIB(fscanf)(file, "%2d", (int *)&number);
            break;
        case 2:
            result = LIB(fscanf)(file, "%lld", &number);
            break;
        case 3:
            result = LIB(fscanf)(file, "%s", word);
            break;
        case 4:
            result = LIB(fscanf)(file, "%2s", word);
            break;
        default:
            result = LIB(fscanf)(file, "%2c", letters);
            see_bytes(letters, 5);
        }
        see(result);
        if (form < 3)
            see(number);
        else if (result == 1)
            see_text(word);
        see(LIB(feof)(file) != 0);
        see(LIB(ferror)(file) != 0);
    }
    see(LIB(fclose)(file));
}

// Counts, fields with a width, and the byte after them.
DRIVER(fscanf_fields) {
    asks_environment();
    FILE *file = LIB(fopen)(content_file_of(ONE_OF("019afx.+- \n", "01x-", "12 ")), "r");
    see(file != NULL);
    NATIVELY at = 0;
    for (int i = random_below(2); i >= 0; i--) {
        // An integer, characters, a floating-point number, or no stored value, with counts before and after it.
        const char *format = ONE_OF("I%d%n", "I%i%n", "I%4i%n", "I%3i%n", "I%2x%n", "I%u%n", "I%o%n", "I%d%n ", "i%n%x%n", "i-%n%d%n", "C%c%n",
                                    "C%3c%n", "C%[0-9]%n", "C%3[^1]%n", "C%s%n", "C%2s%n", "c %n%c%n", "R%lf%n", "N%*d%n", "N%*[0-9 ]%n",
                                    "N%*4i%n", "NX%n", "N %n");
        say("%s", format);
        long long value = 0;
        int before = -1, after = -1, result;
        char text[LENGTH + 1] = "";
        double real = 0;
        switch (format[0]) {
        case 'I':
            result = LIB(fscanf)(file, format + 1, (int *)&value, &after);
            break;
        case 'i':
            result = LIB(fscanf)(file, format + 1, &before, (int *)&value, &after);
            break;
        case 'C':
            result = LIB(fscanf)(file, format + 1, text, &after);
            break;
        case 'c':
            result = LIB(fscanf)(file, format + 1, &before, text, &after);
            break;
        case 'R':
            result = LIB(fscanf)(file, format + 1, &real, &after);
            break;
        default:
            result = LIB(fscanf)(file, format + 1, &after);
        }
        NATIVELY {
            if (before >= 0)
                suggest(before);
            if (format[0] == 'N' && format[2] == '*' && format[3] == '[')
                suggest(content[at]);
            if (format[0] == 'I' || format[0] == 'i')
                suggest((int)value);
            suggest_bytes(text, strlen(text));
            suggest_real(real);
            if (after >= 0)
                suggest(after);
        }
        see(result);
        see(before);
        see(after);
        see(value);
        see_bytes(text, sizeof text);
        see_real(real);
        see(LIB(feof)(file) != 0);
        NATIVELY {
            suggest_nothing();
            at = ftell(file);
        }
    }
    suggest_rest(file, 0);
    see(LIB(fgetc)(file));
    NATIVELY suggest_nothing();
    see(LIB(fclose)(file));
}

// Each standard stream has one direction.
DRIVER(wrong_direction) {
    asks_environment();
    FILE *out = random_below(2) ? LIB(stdout) : LIB(stderr);
    unsigned what = random_below(9);
    say("%u", what);
    switch (what) {
    case 0:
        see(LIB(fprintf)(LIB(stdin), "%s", "text"));
        break;
    case 1:
        see(LIB(fputc)('c', LIB(stdin)));
        break;
    case 2:
        see(LIB(fputs)("text", LIB(stdin)));
        break;
    case 3:
        see(LIB(fwrite)("text", 2, 2, LIB(stdin)));
        break;
    case 4:
        see(LIB(fgetc)(out));
        break;
    case 5:
        see_pointer(LIB(fgets)(room(9), 9, out));
        break;
    case 6:
        see(LIB(fread)(room(9), 3, 3, out));
        break;
    case 7: {
        int number = 7;
        see(LIB(fscanf)(out, "%d", &number));
        see(number);
        break;
    }
    default:
        see(LIB(fflush)(LIB(stdin)));
    }
    see(LIB_ERRNO);
    see(LIB(ferror)(LIB(stdin)) != 0);
    see(LIB(ferror)(out) != 0);
    LIB(clearerr)(LIB(stdin));
    LIB(clearerr)(out);
}

// Output.
DRIVER(output) {
    asks_environment();
    FILE *file = nowhere();
    see(file != NULL);
    for (int i = 0; i < 6; i++) {
        int c = random_bits();
        char *s = random_string(20, "ab\n\xff");
        switch (random_below(12)) {
        case 0:
            see(LIB(fputc)(c, file));
            break;
        case 1:
            see(LIB(putc)(c, file));
            break;
        case 2:
            see(LIB(putchar)(c));
            break;
        case 3:
            see(LIB(fputs)(s, file));
            break;
        case 4:
            see(LIB(puts)(s));
            break;
        case 5:
            see(LIB(fwrite)(s, random_below(3), strlen(s) / 2, file));
            break;
        case 6:
            see(LIB(fprintf)(file, "%s %d %c", s, c, 'x'));
            break;
        case 7:
            see(LIB(fflush)(random_below(2) ? file : NULL));
            break;
        case 8:
            LIB(perror)(random_below(2) ? s : NULL);
            break;
        case 9:
            see(LIB(putchar_unlocked)(c));
            break;
        case 10:
            see(LIB(setvbuf)(file, NULL, ONE_OF(_IONBF, _IOLBF, _IOFBF), 100));
            break;
        default:
            see(LIB(fputc_unlocked)(c, file));
        }
        see(LIB(ferror)(file));
        see(LIB_ERRNO);
    }
    see(LIB(fclose)(file));
}
DRIVER(dprintf) {
    asks_environment();
    see(LIB(dprintf)(1, "%d %s\n", (int)random_integer(), "x"));
}

// Files that do not exist.
DRIVER(fopen) {
    asks_environment();
    FILE *file = LIB(fopen)(ONE_OF("/nowhere/at/all", "/dev/null"), ONE_OF("r", "odd", "", "+", "b"));
    see(file != NULL);
    if (file)
        see(LIB(fclose)(file));
}
DRIVER(freopen) {
    asks_environment();
    FILE *file = nowhere();
    see(LIB(freopen)("/nowhere/at/all", ONE_OF("r", "odd"), file) != NULL);
}
DRIVER(remove) {
    asks_environment();
    see(LIB(remove)("/nowhere/at/all"));
}
DRIVER(rename) {
    asks_environment();
    see(LIB(rename)("/nowhere/at/all", "/nowhere/else"));
}
DRIVER(fdopen) {
    asks_environment();
    _Bool open = random_below(4);
    int file = RECALL(open ? dup(1) : 999);
    FILE *stream = LIB(fdopen)(file, ONE_OF("w", "a", "odd"));
    see(stream != NULL);
    if (stream) {
        see(LIB(fileno)(stream));
        see(LIB(fclose)(stream));
    } else {
        NATIVELY {
            if (open)
                close(file);
        }
    }
}
DRIVER(fileno) {
    asks_environment();
    see(LIB(fileno)(LIB(stdin)));
    see(LIB(fileno)(LIB(stdout)));
    see(LIB(fileno)(LIB(stderr)));
    FILE *file = nowhere();
    see(LIB(fileno)(file));
    see(LIB(fclose)(file));
}
DRIVER(popen) {
    asks_environment();
    if (random_below(100))
        return;
    FILE *file = LIB(popen)("true", "r");
    see(file != NULL);
    NATIVELY suggest(EOF);
    see(LIB(fgetc)(file));
    see(LIB(pclose)(file));
}
DRIVER(tmpnam) {
    asks_environment();
    if (random_below(100))
        return;
    NATIVELY suggest_bytes("abcdef", 6);
    char *name = LIB(tmpnam)(NULL);
    see_bytes(name, 9);
    see(strlen(name));
    FILE *file = LIB(tmpfile)();
    see(file != NULL);
    see(LIB(fclose)(file));
}

DRIVER(hasmntopt) {
    char empty[] = "";
    struct mntent mount = {empty, empty, empty, random_string(9, "ab,=")};
    see_pointer(LIB(hasmntopt)(&mount, random_string(3, "ab,=")));
}
