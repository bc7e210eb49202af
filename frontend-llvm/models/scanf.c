// Defines: scanf vscanf fscanf vfscanf sscanf vsscanf
// Defines: __isoc99_scanf __isoc99_vscanf __isoc99_fscanf __isoc99_vfscanf __isoc99_sscanf __isoc99_vsscanf
// Defines: __isoc23_scanf __isoc23_vscanf __isoc23_fscanf __isoc23_vfscanf __isoc23_sscanf __isoc23_vsscanf
#pragma once
#include "number.c"
#include "stream.c"

// Formatted input. A stream gives anything that fits the format; a string is read.

struct proviso_scan_args {
    va_list list;
};

// A conversion of a format.
struct proviso_directive {
    _Bool suppressed;
    // 0 where none is given.
    int width;
    // As in printf.c.
    char length;
    char conversion;
    // For %[: the set, from behind the bracket or the ^ to before the closing bracket.
    const char *set, *set_end;
    _Bool complement;
};

// Reads a conversion; `format` is behind its %.
static struct proviso_directive proviso_parse_directive(const char **format) {
    struct proviso_directive d = {0};
    const char *f = *format;
    if (*f == '*') {
        d.suppressed = 1;
        f++;
    }
    for (; *f >= '0' && *f <= '9'; f++)
        d.width = d.width * 10 + (*f - '0');
    if (*f == 'h' || *f == 'l') {
        d.length = *f;
        f++;
        if (*f == d.length) {
            f++;
            d.length = d.length == 'h' ? 'H' : 'q';
        }
    } else if (*f == 'L' || *f == 'q' || *f == 'j' || *f == 'z' || *f == 'Z' || *f == 't' || *f == 'm') {
        d.length = *f;
        f++;
    }
    d.conversion = *f;
    if (*f)
        f++;
    if (d.conversion == '[') {
        if (*f == '^') {
            d.complement = 1;
            f++;
        }
        d.set = f;
        // A bracket that comes first is an element.
        if (*f == ']')
            f++;
        while (*f && *f != ']')
            f++;
        d.set_end = f;
        if (*f)
            f++;
    }
    *format = f;
    return d;
}

static _Bool proviso_is_integer_conversion(char c) {
    return c == 'd' || c == 'i' || c == 'u' || c == 'o' || c == 'x' || c == 'X';
}

static _Bool proviso_is_real_conversion(char c) {
    c |= 0x20;
    return c == 'e' || c == 'f' || c == 'g' || c == 'a';
}

static _Bool proviso_is_wide(struct proviso_directive *d) {
    return d->conversion == 'C' || d->conversion == 'S' ||
           (d->length == 'l' && (d->conversion == 'c' || d->conversion == 's' || d->conversion == '['));
}

// Whether a byte is one that %s or %[ takes; without branches on the byte.
static _Bool proviso_takes(struct proviso_directive *d, unsigned char c) {
    if (d->conversion == 's')
        return !((c == ' ') | ((c >= '\t') & (c <= '\r')));
    _Bool found = 0;
    for (const char *s = d->set; s < d->set_end; s++) {
        unsigned char low = *s, high = *s;
        if (s + 2 < d->set_end && s[1] == '-') {
            high = s[2];
            s += 2;
        }
        found |= (c >= low) & (c <= high);
    }
    return found != d->complement;
}

static void proviso_store_integer(struct proviso_scan_args *args, char length, long long value) {
    void *target = va_arg(args->list, void *);
    switch (length) {
    case 'H':
        *(signed char *)target = value;
        break;
    case 'h':
        *(short *)target = value;
        break;
    case 'l':
        *(long *)target = value;
        break;
    case 'q':
    case 'L':
    case 'j':
        *(long long *)target = value;
        break;
    case 'z':
    case 'Z':
    case 't':
        *(ssize_t *)target = value;
        break;
    default:
        *(int *)target = value;
        break;
    }
}

// From a stream.

// An integer as it may stand in a field of this width.
static long long proviso_env_integer(struct proviso_directive *d) {
    long long value = __proviso_env_longlong();
    if (d->width > 0 && d->width < 16) {
        long long base = d->conversion == 'o' ? 8 : (d->conversion | 0x20) == 'x' ? 16 : 10, bound = 1;
        for (int i = 1; i < d->width; i++)
            bound *= base;
        __proviso_assume((value > -bound) & (value < bound * base));
    }
    return value;
}

static void proviso_scan_directive(struct proviso_stream *stream, struct proviso_directive *d,
                                   struct proviso_scan_args *args) {
    char c = d->conversion;
    if (d->suppressed)
        return;
    if (proviso_is_integer_conversion(c)) {
        proviso_store_integer(args, d->length, proviso_env_integer(d));
    } else if (proviso_is_real_conversion(c)) {
        if (d->length == 'L')
            *va_arg(args->list, long double *) = __proviso_env_longdouble();
        else if (d->length == 'l')
            *va_arg(args->list, double *) = __proviso_env_double();
        else
            *va_arg(args->list, float *) = __proviso_env_float();
    } else if (c == 'c') {
        // At the end of the input there may be fewer.
        char *target = va_arg(args->list, char *);
        target[0] = __proviso_env_char();
        for (int i = 1; i < d->width && !stream->at_end; i++) {
            if (__proviso_env_bool())
                target[i] = __proviso_env_char();
            else
                stream->at_end = 1;
        }
    } else if (c == 's' || c == '[') {
        char *target = va_arg(args->list, char *);
        int n = 0;
        do {
            char next = __proviso_env_char();
            __proviso_assume(proviso_takes(d, next));
            target[n] = next;
            n++;
        } while (n != d->width && __proviso_env_bool());
        target[n] = 0;
    } else if (c == 'p') {
        *va_arg(args->list, uintptr_t *) = __proviso_env_size();
    }
}

static int proviso_scan_stream(struct proviso_stream *stream, const char *format, struct proviso_scan_args *args) {
    int items = 0;
    if (stream->at_end && stream->pushed == EOF)
        return EOF;
    stream->pushed = EOF;
    while (*format) {
        if (proviso_is_space(*format)) {
            format++;
            continue;
        }
        struct proviso_directive d = {0};
        if (*format == '%') {
            format++;
            d = proviso_parse_directive(&format);
            if (d.conversion == 'n') {
                if (!d.suppressed)
                    proviso_store_integer(args, d.length, proviso_env_between(0, INT_MAX));
                continue;
            }
            if (proviso_is_wide(&d) || d.length == 'm') {
                __proviso_unmodelled("this conversion of scanf is not modelled");
                return items;
            }
        } else {
            format++;
        }
        // The input does not fit here, or ends.
        if (!__proviso_env_bool()) {
            _Bool ends = __proviso_env_bool();
            stream->at_end |= ends;
            return items ? items : -(int)ends;
        }
        proviso_scan_directive(stream, &d, args);
        items += d.conversion != 0 && d.conversion != '%' && !d.suppressed;
    }
    // The last number or word may have been at the end of the input.
    stream->at_end |= __proviso_env_bool();
    return items;
}

// From a string.

// Reads one conversion from `s`; gives what is behind it, or null if the string does not fit.
static const char *proviso_scan_text(const char *s, struct proviso_directive *d, struct proviso_scan_args *args,
                                     _Bool binary) {
    char c = d->conversion;
    size_t width = d->width ? d->width : SIZE_MAX, n = 0;
    if (proviso_is_integer_conversion(c) || c == 'p') {
        int base = c == 'd' || c == 'u' ? 10 : c == 'i' ? 0 : c == 'o' ? 8 : 16;
        struct proviso_integer number = proviso_read_integer(s, width, base, binary);
        if (number.end == s)
            return NULL;
        // Unlike `strtol`, `scanf` does not go back to the zero where a prefix breaks off.
        if (number.end[-1] == '0' && number.magnitude == 0 && (*number.end == 'x' || *number.end == 'X' ||
                                                               (binary && (*number.end == 'b' || *number.end == 'B'))))
            __proviso_unmodelled("reading a hexadecimal number that breaks off is not modelled");
        _Bool is_long = d->length != 0 && d->length != 'h' && d->length != 'H';
        long long max = is_long && d->length != 'l' ? LLONG_MAX : LONG_MAX;
        long long value = c == 'd' || c == 'i' ? proviso_signed(number, max)
                                               : proviso_unsigned(number, 2ull * max + 1);
        if (c == 'p')
            d->length = 'l';
        if (!d->suppressed)
            proviso_store_integer(args, d->length, value);
        return number.end;
    }
    if (proviso_is_real_conversion(c)) {
        struct proviso_real number = proviso_read_real(s);
        if (d->width) {
            __proviso_unmodelled("a width of a floating-point number to read is not modelled");
            return NULL;
        }
        // Unlike `strtod`, `scanf` does not go back to a shorter number where a longer one breaks off.
        char next = *number.end | 0x20;
        if (next == 'e' || next == 'x' || next == 'p' || next == 'i' || next == 'n' || *number.end == '(')
            __proviso_unmodelled("reading a floating-point number that breaks off is not modelled");
        if (number.kind == PROVISO_NONE)
            return NULL;
        if (d->suppressed)
            return number.end;
        if (d->length == 'L')
            *va_arg(args->list, long double *) = proviso_long_double(number);
        else if (d->length == 'l')
            *va_arg(args->list, double *) = proviso_double(number);
        else
            *va_arg(args->list, float *) = proviso_float(number);
        return number.end;
    }
    if (c == 'c') {
        width = d->width ? d->width : 1;
        char *target = d->suppressed ? NULL : va_arg(args->list, char *);
        // At the end of the string there may be fewer.
        for (; n < width && s[n]; n++) {
            if (target)
                target[n] = s[n];
        }
        return s + n;
    }
    // %s and %[.
    if (!s[0] || !proviso_takes(d, s[0]))
        return NULL;
    char *target = d->suppressed ? NULL : va_arg(args->list, char *);
    for (; n < width && s[n] && proviso_takes(d, s[n]); n++) {
        if (target)
            target[n] = s[n];
    }
    if (target)
        target[n] = 0;
    return s + n;
}

static int proviso_scan_string(const char *s, const char *format, struct proviso_scan_args *args, _Bool binary) {
    const char *start = s;
    int items = 0;
    while (*format) {
        if (proviso_is_space(*format)) {
            format++;
            while (proviso_is_space(*s))
                s++;
            continue;
        }
        struct proviso_directive d = {.conversion = '%'};
        char literal = *format;
        format++;
        if (literal == '%') {
            d = proviso_parse_directive(&format);
            if (proviso_is_wide(&d) || d.length == 'm') {
                __proviso_unmodelled("this conversion of scanf is not modelled");
                return items;
            }
            if (d.conversion != 'c' && d.conversion != '[' && d.conversion != 'n') {
                while (proviso_is_space(*s))
                    s++;
            }
        }
        if (d.conversion == 'n') {
            if (!d.suppressed)
                proviso_store_integer(args, d.length, s - start);
            continue;
        }
        if (!*s)
            return items ? items : EOF;
        if (d.conversion == '%') {
            if (*s != literal)
                return items;
            s++;
            continue;
        }
        s = proviso_scan_text(s, &d, args, binary);
        if (!s)
            return items;
        items += !d.suppressed;
    }
    return items;
}

#define UNPACK_SCAN(...) __VA_ARGS__
#define SCAN(function, vfunction, before, ...)                                                                       \
    int vfunction(UNPACK_SCAN before const char *format, va_list list) {                                             \
        struct proviso_scan_args args;                                                                               \
        va_copy(args.list, list);                                                                                    \
        __VA_ARGS__                                                                                                  \
    }                                                                                                                \
    int function(UNPACK_SCAN before const char *format, ...) {                                                       \
        struct proviso_scan_args args;                                                                               \
        va_start(args.list, format);                                                                                 \
        __VA_ARGS__                                                                                                  \
    }
#define SCAN_ALL(scanf, vscanf, fscanf, vfscanf, sscanf, vsscanf, binary)                                            \
    SCAN(scanf, vscanf, (), return proviso_scan_stream(stdin, format, &args);)                                       \
    SCAN(fscanf, vfscanf, (struct proviso_stream * stream,), return proviso_scan_stream(stream, format, &args);)     \
    SCAN(sscanf, vsscanf, (const char *text,), return proviso_scan_string(text, format, &args, binary);)

SCAN_ALL(scanf, vscanf, fscanf, vfscanf, sscanf, vsscanf, 0)
SCAN_ALL(__isoc99_scanf, __isoc99_vscanf, __isoc99_fscanf, __isoc99_vfscanf, __isoc99_sscanf, __isoc99_vsscanf, 0)
SCAN_ALL(__isoc23_scanf, __isoc23_vscanf, __isoc23_fscanf, __isoc23_vfscanf, __isoc23_sscanf, __isoc23_vsscanf, 1)
