// Defines: scanf vscanf fscanf vfscanf sscanf vsscanf
// Defines: __isoc99_scanf __isoc99_vscanf __isoc99_fscanf __isoc99_vfscanf __isoc99_sscanf __isoc99_vsscanf
// Defines: __isoc23_scanf __isoc23_vscanf __isoc23_fscanf __isoc23_vfscanf __isoc23_sscanf __isoc23_vsscanf
// Defines: scanf.stdin scanf.begin scanf.fits scanf.convert scanf.end scanf.limit
// Defines: scanf.text scanf.skip scanf.more scanf.literal scanf.read scanf.count scanf.done
#pragma once
#include "number.c"
#include "stream.c"

// Formatted input. A stream gives anything that fits the format; a string is read.

struct proviso_scan_args {
    va_list list;
};

// A conversion of a format.
struct proviso_directive {
    // `allocates`: with an `m`.
    _Bool suppressed, allocates;
    // 0 where none is given.
    int width;
    // As in printf.c.
    char length;
    char conversion;
    // White space before it in the format: that of the input is skipped.
    _Bool after_space;
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
    if (*f == 'm') {
        d.allocates = 1;
        f++;
    }
    if (*f == 'h' || *f == 'l') {
        d.length = *f;
        f++;
        if (*f == d.length) {
            f++;
            d.length = d.length == 'h' ? 'H' : 'q';
        }
    } else if (*f == 'L' || *f == 'q' || *f == 'j' || *f == 'z' || *f == 'Z' || *f == 't') {
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
    if (d->conversion == 's' || d->conversion == 'S')
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

static void proviso_store_integer(void *target, char length, long long value) {
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

// Where a conversion goes, if it is not suppressed.
static void *proviso_scan_target(struct proviso_directive *d, struct proviso_scan_args *args) {
    return d->suppressed ? NULL : va_arg(args->list, void *);
}

// The greatest number that is read before it is stored with fewer bits.
static long long proviso_max(char length) {
    return length == 'q' || length == 'L' || length == 'j' ? LLONG_MAX : LONG_MAX;
}

// From a stream.

// An integer as it may stand in a field of this width. `*at_limit` if it may stand for one that is out of range.
static long long proviso_env_integer(struct proviso_directive *d, _Bool *at_limit) {
    long long value = __proviso_env_longlong();
    char c = d->conversion | 0x20;
    if (d->width > 0 && d->width < 16) {
        long long base = c == 'o' ? 8 : c == 'x' || c == 'i' ? 16 : 10, bound = 1;
        for (int i = 1; i < d->width; i++)
            bound *= base;
        __proviso_assume((value > -bound) & (value < bound * base));
    }
    long long max = proviso_max(d->length);
    _Bool extreme = c == 'd' || c == 'i' ? (value == max) | (value == -max - 1) : value == 2ull * max + 1;
    *at_limit = (d->width == 0 || d->width > 7) & extreme;
    return value;
}

// Stores what a conversion may read; whether that may stand for a number that is out of range.
static _Bool proviso_scan_directive(struct proviso_stream *stream, struct proviso_directive *d, void *target) {
    char c = d->conversion;
    _Bool at_limit = 0;
    if (c == 'n') {
        if (!d->suppressed)
            proviso_store_integer(target, d->length, proviso_env_between(0, INT_MAX));
    } else if (d->suppressed) {
        at_limit = 1;
    } else if (proviso_is_integer_conversion(c)) {
        long long value = proviso_env_integer(d, &at_limit);
        proviso_store_integer(target, d->length, value);
    } else if (proviso_is_real_conversion(c)) {
        at_limit = 1;
        if (d->length == 'L')
            *(long double *)target = __proviso_env_longdouble();
        else if (d->length == 'l')
            *(double *)target = __proviso_env_double();
        else
            *(float *)target = __proviso_env_float();
    } else if (c == 'c') {
        // At the end of the input there may be fewer.
        char *to = target;
        to[0] = __proviso_env_char();
        if (d->after_space)
            __proviso_assume(!proviso_is_space(to[0]));
        for (int i = 1; i < d->width && !stream->at_end; i++) {
            if (__proviso_env_bool())
                to[i] = __proviso_env_char();
            else
                stream->at_end = 1;
        }
    } else if (c == 's' || c == '[') {
        char *to = target;
        int n = 0;
        do {
            char next = __proviso_env_char();
            __proviso_assume(proviso_takes(d, next));
            to[n] = next;
            n++;
        } while (n != d->width && __proviso_env_bool());
        to[n] = 0;
    } else if (c == 'p') {
        *(uintptr_t *)target = __proviso_env_size();
    }
    return at_limit;
}

// Before anything is read: whether it may be. What cannot be read is no error of the stream.
static _Bool proviso_scan_begins(struct proviso_stream *stream) {
    if (stream->write_only) {
        SET_ERRNO(EBADF);
        return 0;
    }
    stream->position = -1;
    if (stream->pushed_count > 0) {
        __proviso_overapproximated("what scanf reads of characters pushed back is not modelled exactly");
        stream->pushed_count = 0;
    }
    return 1;
}

// Whether what comes next fits: 0 if it does, 1 if it does not, EOF if the input has ended. To %s and %c everything fits.
static int proviso_scan_fits(struct proviso_stream *stream, char conversion) {
    if (!stream->at_end && __proviso_env_bool())
        return 0;
    if (!stream->at_end && conversion != 's' && conversion != 'c' && !__proviso_env_bool())
        return 1;
    if (!stream->at_end)
        proviso_end_of_input(stream);
    SET_ERRNO_IF(stream->at_end && __proviso_env_bool(), 0);
    return EOF;
}

// The last number or word may have been at the end of the input.
static void proviso_scan_ends(struct proviso_stream *stream) {
    if (__proviso_env_bool() && !stream->at_end)
        proviso_end_of_input(stream);
}

// The choices are made in an order that harnesses know (`proviso/src/environment/scan.rs`).
static int proviso_scan_input(struct proviso_stream *stream, const char *format, struct proviso_scan_args *args,
                              _Bool *at_limit) {
    int items = 0;
    _Bool after_space = 0;
    if (!proviso_scan_begins(stream))
        return EOF;
    while (*format) {
        if (proviso_is_space(*format)) {
            format++;
            after_space = 1;
            continue;
        }
        struct proviso_directive d = {0};
        if (*format == '%') {
            format++;
            d = proviso_parse_directive(&format);
            d.after_space = after_space;
            if (d.conversion == 'n') {
                proviso_scan_directive(stream, &d, proviso_scan_target(&d, args));
                continue;
            }
            if (proviso_is_wide(&d) || d.allocates) {
                __proviso_unmodelled("this conversion of scanf is not modelled");
                return items;
            }
        } else {
            format++;
        }
        after_space = 0;
        int fits = proviso_scan_fits(stream, d.conversion);
        if (fits != 0)
            return items ? items : fits == EOF ? EOF : 0;
        if (d.conversion == 0 || d.conversion == '%')
            continue;
        *at_limit |= proviso_scan_directive(stream, &d, proviso_scan_target(&d, args));
        items += !d.suppressed;
    }
    proviso_scan_ends(stream);
    return items;
}

static int proviso_scan_stream(struct proviso_stream *stream, const char *format, struct proviso_scan_args *args,
                               _Bool wide) {
    _Bool at_limit = 0;
    USE(stream);
    if (wide)
        WIDE(stream);
    else
        BYTES(stream);
    int items = proviso_scan_input(stream, format, args, &at_limit);
    SET_ERRNO_IF(at_limit && __proviso_env_bool(), ERANGE);
    return items;
}

// From a string.

// What is left of it. Where the end was reached, the library remembers what `errno` was then, and sets it again when
// it looks for more.
struct proviso_text {
    const char *s;
    _Bool at_end;
    int errno_at_end;
};

#ifdef PROVISO_ERRNO
#define ERRNO_NOW proviso_errno
#else
#define ERRNO_NOW 0
#endif

// Whether there is no more to read.
static _Bool proviso_reads_end(struct proviso_text *text, int errno_now) {
    if (*text->s)
        return 0;
    if (text->at_end)
        SET_ERRNO(text->errno_at_end);
    else
        text->errno_at_end = errno_now;
    text->at_end = 1;
    return 1;
}

static const char *proviso_behind_space(const char *s) {
    while (proviso_is_space(*s))
        s++;
    return s;
}

static void proviso_skip_space(struct proviso_text *text) {
    text->s = proviso_behind_space(text->s);
    if (!*text->s && !text->at_end)
        proviso_reads_end(text, 0);
}

static _Bool proviso_scan_integer(struct proviso_text *text, struct proviso_directive *d, void *target, _Bool binary) {
    const char *s = text->s;
    char c = d->conversion;
    size_t width = d->width ? d->width : SIZE_MAX;
    int base = c == 'd' || c == 'u' ? 10 : c == 'i' ? 0 : c == 'o' ? 8 : 16;
    if (c == 'p' && *s == '(')
        __proviso_unmodelled("reading a null pointer is not modelled");
    struct proviso_integer number = proviso_read_integer(s, width, base, binary, 1);
    if (number.end == s)
        return 0;
    text->s = number.end;
    proviso_reads_end(text, ERRNO_NOW);
    long long max = proviso_max(d->length);
    long long value =
        c == 'd' || c == 'i' ? proviso_signed(number, max) : proviso_unsigned(number, 2ull * max + 1);
    if (!d->suppressed)
        proviso_store_integer(target, c == 'p' ? 'l' : d->length, value);
    return 1;
}

// The next character of a floating-point number, where the field has room for it and the text goes on; it is lower case. 0 otherwise.
static char proviso_field_character(struct proviso_text *text, const char *s, size_t *width) {
    text->s = s;
    if (*width == 0 || proviso_reads_end(text, ERRNO_NOW))
        return 0;
    --*width;
    return *s | (*s >= 'A' && *s <= 'Z' ? 0x20 : 0);
}

// Where a floating-point number ends as `scanf` reads it: unlike `strtod` it does not go back to a shorter number where a longer
// one breaks off. Null where the text does not fit.
static const char *proviso_end_of_real(struct proviso_text *text, size_t width) {
    const char *s = text->s;
    char c = proviso_field_character(text, s, &width);
    _Bool sign = c == '-' || c == '+';
    if (sign) {
        s++;
        c = proviso_field_character(text, s, &width);
    }
    if (c == 'i' || c == 'n') {
        const char *word = c == 'i' ? "infinity" : "nan";
        for (int n = 0; word[n]; n++) {
            if (n > 0)
                c = proviso_field_character(text, s, &width);
            if (c != word[n])
                return n == 3 ? s : NULL;
            s++;
        }
        return s;
    }
    const char *start = s;
    _Bool hex = 0, digits = 0, point = 0;
    const char *exponent = NULL;
    if (c == '0') {
        s++;
        digits = 1;
        c = proviso_field_character(text, s, &width);
        // Behind which there has to be room for more.
        if (c == 'x' && width > 0) {
            s++;
            hex = 1;
            digits = 0;
            c = proviso_field_character(text, s, &width);
        }
    }
    for (; c; c = proviso_field_character(text, s, &width)) {
        if (proviso_digit_in(c, 10) < 10 || (hex && !exponent && proviso_digit(c) < 16))
            digits = 1;
        else if (digits && !exponent && c == (hex ? 'p' : 'e'))
            exponent = s;
        else if (c == '.' && !point && !exponent)
            point = 1;
        else if (s - 1 != exponent || (c != '-' && c != '+'))
            break;
        s++;
    }
    return s == start + 2 * hex ? NULL : s;
}

static _Bool proviso_scan_real(struct proviso_text *text, struct proviso_directive *d, void *target) {
    struct proviso_real number = proviso_read_real(text->s);
    const char *end = number.end;
    char next = *end | 0x20;
    _Bool breaks_off = next == 'e' || next == 'x' || next == 'p' || next == 'i' || next == 'n' || *end == '(';
    if (d->width || breaks_off) {
        const char *start = text->s, *limit = proviso_end_of_real(text, d->width ? d->width : SIZE_MAX);
        if (!limit)
            return 0;
        size_t length = limit - start;
        char *field = __proviso_scratch(length + 1);
        __builtin_memcpy(field, start, length);
        field[length] = 0;
        number = proviso_read_real(field);
        __proviso_drop(field);
        text->s = limit;
    } else if (number.kind != PROVISO_NONE) {
        text->s = end;
        // No more is read than the word has letters.
        if (number.kind == PROVISO_DECIMAL || number.kind == PROVISO_HEX || end[-1] == 'f' || end[-1] == 'F')
            proviso_reads_end(text, ERRNO_NOW);
    }
    if (number.kind == PROVISO_NONE)
        return 0;
    // What is suppressed is converted, too: it may be out of range.
    if (d->length == 'L') {
        long double value = proviso_long_double(number);
        if (!d->suppressed)
            *(long double *)target = value;
    } else if (d->length == 'l') {
        double value = proviso_double(number);
        if (!d->suppressed)
            *(double *)target = value;
    } else {
        float value = proviso_float(number);
        if (!d->suppressed)
            *(float *)target = value;
    }
    return 1;
}

// Where characters go: to what an argument points to, or (%m) to memory that it is then made to point to.
static void *proviso_text_target(struct proviso_directive *d, void *target, size_t size) {
    if (d->suppressed || !d->allocates)
        return target;
    // Whether there is memory was asked before anything was read.
    return *(void **)target = __proviso_make_malloc(size);
}

// Reads one conversion, to `to` if it is not suppressed; whether the text fits. At the end of the text %c may get fewer than it asks for.
static _Bool proviso_scan_text(struct proviso_text *text, struct proviso_directive *d, void *to, _Bool binary) {
    char c = d->conversion;
    if (proviso_is_integer_conversion(c) || c == 'p')
        return proviso_scan_integer(text, d, to, binary);
    if (proviso_is_real_conversion(c))
        return proviso_scan_real(text, d, to);
    const char *s = text->s;
    _Bool any = c == 'c' || c == 'C', wide = proviso_is_wide(d);
    size_t n = 0, length = 0, width = d->width ? d->width : any ? 1 : SIZE_MAX, size = wide ? sizeof(wchar_t) : 1;
    if (!any && !proviso_takes(d, s[0]))
        return 0;
    // How much memory is allocated has to be known before.
    while (d->allocates && length < width && s[length] && (any || proviso_takes(d, s[length])))
        length++;
    char *target = proviso_text_target(d, to, (length + !any) * size);
    for (; n < width && *s && (any || proviso_takes(d, *s)); n++, s++) {
        if (wide && *s < 0)
            __proviso_unmodelled("reading what is no wide character is not modelled");
        if (d->suppressed)
            continue;
        if (wide)
            ((wchar_t *)target)[n] = *s;
        else
            target[n] = *s;
    }
    if (!d->suppressed && !any) {
        if (wide)
            ((wchar_t *)target)[n] = 0;
        else
            target[n] = 0;
    }
    text->s = s;
    if (n < width)
        proviso_reads_end(text, ERRNO_NOW);
    return 1;
}

// Skips white space, where the conversion or what stands before it in the format says so; 0 is the conversion of a character that stands for
// itself.
static void proviso_skip_before(struct proviso_text *text, char conversion, _Bool space) {
    if (conversion == 0) {
        if (space)
            text->s = proviso_behind_space(text->s);
    } else if (space || (conversion != 'c' && conversion != 'C' && conversion != '[' && conversion != 'n')) {
        proviso_skip_space(text);
    }
}

static _Bool proviso_reads_literal(struct proviso_text *text, char literal) {
    if (*text->s != literal)
        return 0;
    text->s++;
    return 1;
}

// Behind the last conversion.
static void proviso_skip_behind(struct proviso_text *text, _Bool space) {
    if (space) {
        text->s = proviso_behind_space(text->s);
        proviso_reads_end(text, ERRNO_NOW);
    }
}

// There is no memory for a conversion with %m. What others have allocated before is freed, and their pointers become null.
static int proviso_scan_without_memory(void **target, _Bool allocated) {
    if (allocated)
        __proviso_unmodelled("scanf without memory for a second %m is not modelled");
    *target = NULL;
    SET_ERRNO(ENOMEM);
    return EOF;
}

static int proviso_scan_string(const char *s, const char *format, struct proviso_scan_args *args, _Bool binary) {
    struct proviso_text text = {s};
    int items = 0;
    _Bool space = 0, allocated = 0;
    for (; *format; space = 0) {
        while (proviso_is_space(*format)) {
            space = 1;
            format++;
        }
        if (!*format)
            break;
        struct proviso_directive d = {0};
        char literal = *format;
        format++;
        if (literal == '%')
            d = proviso_parse_directive(&format);
        proviso_skip_before(&text, d.conversion, space);
        if (d.conversion == 'n') {
            if (!d.suppressed)
                proviso_store_integer(proviso_scan_target(&d, args), d.length, text.s - s);
            continue;
        }
        if (d.allocates && !d.suppressed) {
            if (__proviso_allocation_fails())
                return proviso_scan_without_memory(proviso_scan_target(&d, args), allocated);
            allocated = 1;
        }
        if (proviso_reads_end(&text, ERRNO_NOW))
            return items ? items : EOF;
        if (d.conversion == 0 || d.conversion == '%') {
            if (!proviso_reads_literal(&text, literal))
                return items;
            continue;
        }
        if (!proviso_scan_text(&text, &d, proviso_scan_target(&d, args), binary))
            return items;
        items += !d.suppressed;
    }
    proviso_skip_behind(&text, space);
    return items;
}

// Where the format is known, calls of `scanf`, `fscanf` and `sscanf` are calls of what follows, a directive at a time (`lower/input.rs`).

#define PART(result, function, label, ...)                                                                           \
    extern result function(__VA_ARGS__) __asm__(label);                                                              \
    result function(__VA_ARGS__)

#define DIRECTIVE _Bool suppressed, char conversion, char length, int width, _Bool after_space, _Bool complement, const char *set, const char *set_end
#define THE_DIRECTIVE                                                                                                \
    {                                                                                                                \
        .suppressed = suppressed, .width = width, .length = length, .conversion = conversion, .after_space = after_space, \
        .set = set, .set_end = set_end, .complement = complement                                                     \
    }

PART(struct proviso_stream *, proviso_scan_part_stdin, "scanf.stdin", void) { return stdin; }

PART(_Bool, proviso_scan_part_begin, "scanf.begin", struct proviso_stream *stream) {
    USE(stream);
    BYTES(stream);
    return proviso_scan_begins(stream);
}

PART(int, proviso_scan_part_fits, "scanf.fits", struct proviso_stream *stream, char conversion) {
    return proviso_scan_fits(stream, conversion);
}

PART(_Bool, proviso_scan_part_convert, "scanf.convert", struct proviso_stream *stream, void *target, DIRECTIVE) {
    struct proviso_directive d = THE_DIRECTIVE;
    return proviso_scan_directive(stream, &d, target);
}

PART(void, proviso_scan_part_end, "scanf.end", struct proviso_stream *stream) { proviso_scan_ends(stream); }

PART(void, proviso_scan_part_limit, "scanf.limit", _Bool at_limit) {
    SET_ERRNO_IF(at_limit && __proviso_env_bool(), ERANGE);
}

PART(void, proviso_scan_part_text, "scanf.text", struct proviso_text *text, const char *s) {
    text->s = s;
    text->at_end = 0;
    text->errno_at_end = 0;
}

PART(void, proviso_scan_part_skip, "scanf.skip", struct proviso_text *text, char conversion, _Bool space) {
    proviso_skip_before(text, conversion, space);
}

PART(_Bool, proviso_scan_part_more, "scanf.more", struct proviso_text *text) {
    return !proviso_reads_end(text, ERRNO_NOW);
}

PART(_Bool, proviso_scan_part_literal, "scanf.literal", struct proviso_text *text, char literal) {
    return proviso_reads_literal(text, literal);
}

PART(_Bool, proviso_scan_part_read, "scanf.read", struct proviso_text *text, void *target, _Bool binary, DIRECTIVE) {
    struct proviso_directive d = THE_DIRECTIVE;
    return proviso_scan_text(text, &d, target, binary);
}

PART(void, proviso_scan_part_count, "scanf.count", struct proviso_text *text, const char *s, void *target, char length) {
    proviso_store_integer(target, length, text->s - s);
}

PART(void, proviso_scan_part_done, "scanf.done", struct proviso_text *text, _Bool space) {
    proviso_skip_behind(text, space);
}

#define UNPACK_SCAN(...) __VA_ARGS__
#define SCAN(character, function, vfunction, before, ...)                                                            \
    int vfunction(UNPACK_SCAN before const character *format, va_list list) {                                        \
        struct proviso_scan_args args;                                                                               \
        va_copy(args.list, list);                                                                                    \
        __VA_ARGS__                                                                                                  \
    }                                                                                                                \
    int function(UNPACK_SCAN before const character *format, ...) {                                                  \
        struct proviso_scan_args args;                                                                               \
        va_start(args.list, format);                                                                                 \
        __VA_ARGS__                                                                                                  \
    }
#define SCAN_ALL(scanf, vscanf, fscanf, vfscanf, sscanf, vsscanf, binary)                                            \
    SCAN(char, scanf, vscanf, (), return proviso_scan_stream(stdin, format, &args, 0);)                              \
    SCAN(char, fscanf, vfscanf, (struct proviso_stream * stream,),                                                   \
         return proviso_scan_stream(stream, format, &args, 0);)                                                      \
    SCAN(char, sscanf, vsscanf, (const char *text,), return proviso_scan_string(text, format, &args, binary);)

SCAN_ALL(scanf, vscanf, fscanf, vfscanf, sscanf, vsscanf, 0)
SCAN_ALL(__isoc99_scanf, __isoc99_vscanf, __isoc99_fscanf, __isoc99_vfscanf, __isoc99_sscanf, __isoc99_vsscanf, 0)
SCAN_ALL(__isoc23_scanf, __isoc23_vscanf, __isoc23_fscanf, __isoc23_vfscanf, __isoc23_sscanf, __isoc23_vsscanf, 1)
