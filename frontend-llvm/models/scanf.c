// Defines: scanf vscanf fscanf vfscanf sscanf vsscanf
// Defines: __isoc99_scanf __isoc99_vscanf __isoc99_fscanf __isoc99_vfscanf __isoc99_sscanf __isoc99_vsscanf
// Defines: __isoc23_scanf __isoc23_vscanf __isoc23_fscanf __isoc23_vfscanf __isoc23_sscanf __isoc23_vsscanf
// Defines: scanf.stdin scanf.begin scanf.fits scanf.convert scanf.end scanf.limit
// Defines: scanf.text scanf.skip scanf.more scanf.literal scanf.read scanf.count scanf.done
#pragma once
#include "number.c"
#include "stream.c"

// Formatted input. A stream returns arbitrary input that matches the format. A string is parsed.

struct proviso_scan_args {
    va_list list;
};

// A conversion of a format.
struct proviso_directive {
    // `allocates`: it has an `m`.
    _Bool suppressed, allocates;
    // 0 if absent or above INT_MAX.
    int width;
    // 'H' for hh, 'q' for ll, as in printf.c.
    char length;
    char conversion;
    // A literal character. `%` for a conversion.
    char literal;
    // White space precedes it in the format, so that of the input is skipped.
    _Bool after_space;
    // For %[: the set, from after the bracket or the ^ to before the closing bracket.
    const char *set, *set_end;
    _Bool complement;
};

// Parses a conversion. `format` points after its %.
static struct proviso_directive proviso_parse_directive(const char **format) {
    struct proviso_directive d = {0};
    const char *f = *format;
    if (*f == '*') {
        d.suppressed = 1;
        f++;
    }
    long long width = 0;
    for (; *f >= '0' && *f <= '9'; f++) {
        if (width <= INT_MAX)
            width = width * 10 + (*f - '0');
    }
    d.width = width <= INT_MAX ? width : 0;
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
        // A closing bracket at the start is an element of the set.
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

// True if %s or %[ accepts the byte. Does not branch on the byte.
static _Bool proviso_takes(struct proviso_directive *d, unsigned char c) {
    if (d->conversion == 's' || d->conversion == 'S')
        return !((c == ' ') | ((c >= '\t') & (c <= '\r')));
    return proviso_in_set(d->set, d->set_end, c) != d->complement;
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

// The target of a conversion that is not suppressed.
static void *proviso_scan_target(struct proviso_directive *d, struct proviso_scan_args *args) {
    return d->suppressed ? NULL : va_arg(args->list, void *);
}

// The greatest number that is parsed before it is stored with fewer bits.
static long long proviso_max(char length) {
    return length == 'q' || length == 'L' || length == 'j' ? LLONG_MAX : LONG_MAX;
}

// From a stream.

// The number of bytes that a call has read, if a %n follows: at least `bytes`, and exactly `bytes` if `exactly`.
static struct {
    // `skipped`: white space before the next directive was skipped before a %n. `looks_ahead`: the last item may have
    // ended because the input did.
    _Bool asked, exactly, has_real, skipped, looks_ahead;
    long long bytes;
} proviso_scanned;

// Records that `bytes` bytes were read, or at least as many if not `exactly`.
static void proviso_scans(long long bytes, _Bool exactly) {
    if (proviso_scanned.asked) {
        proviso_scanned.bytes += bytes;
        proviso_scanned.exactly &= exactly;
    }
}

// A directive reads this byte first. If it `skips` white space, that may precede the byte.
static void proviso_scans_first(struct proviso_stream *stream, unsigned char c, _Bool skips) {
    if (!skips || proviso_scanned.skipped)
        __proviso_assume(!proviso_is_excluded(stream, c));
    else if (proviso_scanned.asked)
        proviso_scans(proviso_is_excluded(stream, c), 0);
    proviso_exclude_nothing(stream);
    proviso_scanned.skipped = proviso_scanned.looks_ahead = 0;
}

// Excludes a further digit of a number as the next byte, because the field had room for one.
static void proviso_excludes(struct proviso_stream *stream, char class) {
    proviso_exclude_nothing(stream);
    proviso_scanned.skipped = 0;
    proviso_scanned.looks_ahead = 1;
    stream->excluded.class = class;
}

static void proviso_excludes_set(struct proviso_stream *stream, const char *set, const char *set_end, _Bool complement) {
    struct proviso_excluded *excluded = &stream->excluded;
    excluded->set_applies = set_end - set <= (ptrdiff_t)sizeof excluded->set;
    excluded->set_is_unknown = !excluded->set_applies;
    excluded->complement = complement;
    if (excluded->set_applies) {
        excluded->set_size = set_end - set;
        __builtin_memcpy(excluded->set, set, set_end - set);
    }
}

// The class of digits that may continue an integer. A number that starts with 0 may be octal, so %i is limited to octal digits.
static char proviso_digits_class(char conversion) {
    char c = conversion | 0x20;
    return c == 'x' ? 'x' : c == 'o' || c == 'i' ? 'o' : 'd';
}

// `base` to the power of `exponent`, or the greatest number if that exceeds 2^63.
static unsigned long long proviso_power_of(unsigned base, int exponent) {
    unsigned long long power = 1;
    for (; exponent > 0; exponent--) {
        if (power > ~0ull / 2 / base)
            return ~0ull;
        power *= base;
    }
    return power;
}

// The number of digits of a number, computed without branches on the number.
static int proviso_count_digits(unsigned long long number, unsigned base) {
    int count = 1;
    for (unsigned long long power = base;; power *= base) {
        count += number >= power;
        if (power > ~0ull / base)
            return count;
    }
}

// The least length in bytes of an integer's text, including its sign.
static int proviso_least_length(char c, unsigned long long magnitude, _Bool negative) {
    int digits = proviso_count_digits(magnitude, c == 'o' ? 8 : c == 'x' ? 16 : 10);
    if (c == 'i') {
        int hex = 2 + proviso_count_digits(magnitude, 16);
        digits = hex < digits ? hex : digits;
    }
    return digits + negative;
}

// Assumes that the value fits a field of this width.
static void proviso_fits_field(long long value, char c, int width, _Bool is_signed) {
    unsigned base = c == 'o' ? 8 : c == 'x' ? 16 : 10;
    // The bounds of values without a sign and of negative values. With the prefix 0x, a long field of %i has room for more.
    unsigned long long above = proviso_power_of(base, width), below = proviso_power_of(base, width - 1);
    if (c == 'i' && width > 11) {
        above = proviso_power_of(16, width - 2) > above ? proviso_power_of(16, width - 2) : above;
        below = proviso_power_of(16, width - 3) > below ? proviso_power_of(16, width - 3) : below;
    }
    unsigned long long magnitude = value, negated = -magnitude;
    if (is_signed)
        __proviso_assume(((value >= 0) & (magnitude < above)) | ((value < 0) & (negated < below)));
    else
        __proviso_assume((magnitude < above) | (negated < below));
}

// True if white space or a sign must precede an unsigned number.
static _Bool proviso_is_separated(struct proviso_stream *stream, char c) {
    char class = stream->excluded.class;
    return class == 's' || class == 'x' || (class == 'd' && c != 'x' && c != 'p');
}

static void proviso_scans_integer(struct proviso_stream *stream, char c, long long value, _Bool is_signed) {
    if (!proviso_scanned.asked)
        return;
    // An unsigned number may have the text of a negative one.
    int plain = proviso_least_length(c, value, 0), negated = proviso_least_length(c, -(unsigned long long)value, 1);
    _Bool is_negated = is_signed ? value < 0 : negated < plain;
    proviso_scans(is_negated ? negated : plain, 0);
    proviso_scans(proviso_is_separated(stream, c) && (!is_negated || stream->excluded.class == 's'), 0);
}

// An integer whose text fits a field of this width. Sets `*at_limit` if the text may denote a number that is out of range.
static long long proviso_env_integer(struct proviso_stream *stream, struct proviso_directive *d, _Bool *at_limit) {
    long long value = __proviso_env_longlong(), max = proviso_max(d->length);
    char c = d->conversion | 0x20;
    _Bool is_signed = c == 'd' || c == 'i';
    if (d->width > 0)
        proviso_fits_field(value, c, d->width, is_signed);
    if (is_signed)
        __proviso_assume((value <= max) & (value >= -max - 1));
    proviso_scans_integer(stream, c, value, is_signed);
    _Bool extreme = is_signed ? (value == max) | (value == -max - 1) : value == 2ull * max + 1;
    *at_limit = (d->width == 0 || d->width > 7) & extreme;
    return value;
}

static uintptr_t proviso_env_address(struct proviso_stream *stream, struct proviso_directive *d) {
    uintptr_t address = __proviso_env_size();
    if (d->width > 0)
        proviso_fits_field(address, 'x', d->width, 0);
    proviso_scans_integer(stream, 'x', address, 0);
    return address;
}

// The forms of floating-point numbers with few bytes. Harnesses know how they are chosen (`driver/src/environment/scan.rs`).
enum { PROVISO_WHOLE, PROVISO_TENTHS, PROVISO_HUNDREDTHS, PROVISO_SCALED, PROVISO_INF, PROVISO_NO_NUMBER, PROVISO_OTHER };

// For three bytes: `123`, `1.5`, `.25`, `2e9`, `inf` and so on. For more bytes: integers, and arbitrary numbers.
static int proviso_env_form(int width) {
    int form = proviso_env_between(PROVISO_WHOLE, PROVISO_OTHER);
    __proviso_assume((form == PROVISO_WHOLE) | ((form == PROVISO_TENTHS) & (width == 2)) |
                     ((form < PROVISO_OTHER) & (width == 3)) | ((form == PROVISO_OTHER) & (width > 3)));
    if (form == PROVISO_OTHER || !ROUNDS_TO_NEAREST)
        __proviso_overapproximated("scanf of a floating-point number in a field of this width is not modelled exactly");
    return form;
}

// A sign, if there is room for one, and digits. `behind` of the digits follow the point.
static int proviso_env_digits(int width, int behind, _Bool *negative) {
    int room = (width < 9 ? width : 9) - (behind > 0), less = width > 9 ? room : room - 1;
    *negative = __proviso_env_bool();
    int digits = __proviso_env_int();
    __proviso_assume((digits >= 0) & (digits < (int)proviso_power_of(10, room)));
    __proviso_assume(!*negative | ((less > 0) & (less >= behind) & (digits < (int)proviso_power_of(10, less))));
    return digits;
}

// A number in a field of this width. A field of `ENOUGH` bytes has room for every number: a sign, a point, an exponent,
// and as many digits as identify the number.
#define PROVISO_ENV_REAL(function, T, ENOUGH, any)                                                                   \
    static T function(int width) {                                                                                   \
        if (width == 0 || width >= ENOUGH)                                                                           \
            return any();                                                                                            \
        T value = 0;                                                                                                 \
        _Bool negative = 0;                                                                                          \
        switch (proviso_env_form(width)) {                                                                           \
        case PROVISO_WHOLE:                                                                                          \
            value = proviso_env_digits(width, 0, &negative);                                                         \
            break;                                                                                                   \
        case PROVISO_TENTHS:                                                                                         \
            value = (T)proviso_env_digits(width, 1, &negative) / 10;                                                 \
            break;                                                                                                   \
        case PROVISO_HUNDREDTHS:                                                                                     \
            value = (T)proviso_env_digits(width, 2, &negative) / 100;                                                \
            break;                                                                                                   \
        case PROVISO_SCALED:                                                                                         \
            value = proviso_env_between(0, 9);                                                                       \
            value *= proviso_power_of(10, proviso_env_between(0, 9));                                                   \
            break;                                                                                                   \
        case PROVISO_INF:                                                                                            \
            return __builtin_inff();                                                                                 \
        case PROVISO_NO_NUMBER:                                                                                      \
            return __builtin_nanf("");                                                                               \
        default:                                                                                                     \
            return any();                                                                                            \
        }                                                                                                            \
        return negative ? -value : value;                                                                            \
    }
PROVISO_ENV_REAL(proviso_env_float_field, float, 15, __proviso_env_float)
PROVISO_ENV_REAL(proviso_env_double_field, double, 24, __proviso_env_double)
PROVISO_ENV_REAL(proviso_env_long_double_field, long double, 29, __proviso_env_longdouble)

// Stores a floating-point number. Only zero, infinities and numbers that are not normal may come from text that is out of range.
#define PROVISO_STORE_REAL(T, field, NORMAL, MAX)                                                                    \
    do {                                                                                                             \
        T value = field(d->width);                                                                                   \
        *(T *)target = value;                                                                                        \
        at_limit = ((value < NORMAL) & (value > -NORMAL)) | (value > MAX) | (value < -MAX);                          \
    } while (0)

// Stores characters at `to`. Returns their number. At the end of the input there may be fewer than requested.
static int proviso_env_characters(struct proviso_stream *stream, struct proviso_directive *d, char *to) {
    int n = 1, wanted = d->width ? d->width : 1;
    char first = __proviso_env_char();
    if (d->after_space)
        __proviso_assume(!proviso_is_space(first));
    proviso_scans_first(stream, first, d->after_space);
    if (!d->suppressed)
        to[0] = first;
    for (; n < wanted && __proviso_env_bool(); n++) {
        char next = __proviso_env_char();
        if (!d->suppressed)
            to[n] = next;
    }
    stream->at_end = n < wanted;
    return n;
}

// Stores a null-terminated word. Returns true if the field had room for more. For a suppressed word, only the first
// character and the length are chosen.
static _Bool proviso_env_word(struct proviso_stream *stream, struct proviso_directive *d, char *to) {
    _Bool skips = d->conversion == 's' || d->after_space;
    int n = 1;
    char first = __proviso_env_char();
    __proviso_assume(proviso_takes(d, first));
    proviso_scans_first(stream, first, skips);
    if (!d->suppressed) {
        // The loop does not write to the stream.
        for (to[0] = first; n != d->width && __proviso_env_bool(); n++) {
            char next = __proviso_env_char();
            __proviso_assume(proviso_takes(d, next));
            to[n] = next;
        }
        to[n] = 0;
    } else if (proviso_scanned.asked) {
        n = proviso_env_between(1, d->width ? d->width : INT_MAX);
    }
    proviso_scans(n, !skips);
    return d->suppressed ? d->width == 0 : n != d->width;
}

// Stores the number of bytes that were read.
static void proviso_scan_count(struct proviso_stream *stream, struct proviso_directive *d, void *target) {
    proviso_scanned.exactly &= !d->after_space;
    proviso_scanned.skipped = d->after_space;
    if (d->suppressed) {
        if (d->after_space)
            proviso_exclude_nothing(stream);
        return;
    }
    int count = proviso_env_between(0, INT_MAX);
    long long least = proviso_scanned.bytes;
    __proviso_assume(proviso_scanned.exactly ? count == least : count >= least);
    if (proviso_scanned.has_real && count < least + 29)
        __proviso_overapproximated("the length of a floating-point number that scanf reads is not modelled exactly");
    // White space that was skipped here is not skipped later.
    if (d->after_space && count > least)
        proviso_exclude_nothing(stream);
    proviso_store_integer(target, d->length, count);
    proviso_scanned.bytes = count;
    proviso_scanned.exactly = 1;
    proviso_scanned.has_real = 0;
}

// Stores the result of a conversion. Returns true if its text may be out of range.
static _Bool proviso_scan_directive(struct proviso_stream *stream, struct proviso_directive *d, void *target) {
    char c = d->conversion;
    _Bool at_limit = 0;
    if (c == 'n') {
        proviso_scan_count(stream, d, target);
    } else if (c == 'c') {
        proviso_scans(proviso_env_characters(stream, d, target), !d->after_space);
    } else if (c == 's' || c == '[') {
        if (proviso_env_word(stream, d, target)) {
            if (c == 's')
                proviso_excludes(stream, 's');
            else
                proviso_excludes_set(stream, d->set, d->set_end, d->complement);
        }
        proviso_scanned.looks_ahead = stream->excluded.class || stream->excluded.set_applies || stream->excluded.set_is_unknown ||
                                      (d->suppressed && d->width);
    } else if (proviso_is_real_conversion(c)) {
        at_limit = 1;
        if (d->suppressed)
            ;
        else if (d->length == 'L')
            PROVISO_STORE_REAL(long double, proviso_env_long_double_field, 0x1p-16382l, __LDBL_MAX__);
        else if (d->length == 'l')
            PROVISO_STORE_REAL(double, proviso_env_double_field, 0x1p-1022, __DBL_MAX__);
        else
            PROVISO_STORE_REAL(float, proviso_env_float_field, 0x1p-126f, __FLT_MAX__);
        proviso_scans(1 + (stream->excluded.class == 's'), 0);
        proviso_scanned.has_real = 1;
        proviso_excludes(stream, d->width ? 0 : 'f');
    } else {
        at_limit = d->suppressed;
        if (d->suppressed)
            proviso_scans(1 + proviso_is_separated(stream, c | 0x20), 0);
        else if (c == 'p')
            *(uintptr_t *)target = proviso_env_address(stream, d);
        else if (proviso_is_integer_conversion(c))
            proviso_store_integer(target, d->length, proviso_env_integer(stream, d, &at_limit));
        // A digit may follow (nil).
        proviso_excludes(stream, d->width || c == 'p' ? 0 : proviso_digits_class(c));
    }
    return at_limit;
}

// Called before the first directive. Returns whether the stream can be read. If not, the stream gets no error. `counts`: a %n follows.
static _Bool proviso_scan_begins(struct proviso_stream *stream, _Bool counts) {
    if (stream->write_only) {
        SET_ERRNO(EBADF);
        return 0;
    }
    if (PUSHED(stream) == 0 && !stream->at_end && LOST_INPUT(stream)) {
        stream->error = 1;
        SET_ERRNO(EBADF);
        return 0;
    }
    READ_BACK(stream);
    SET_POSITION(stream, PROVISO_SOMEWHERE);
    if (PUSHED(stream) > 0) {
        __proviso_overapproximated("a scanf of characters that ungetc pushed back is not modelled exactly");
        FORGET_PUSHED(stream);
    }
    proviso_scanned.asked = proviso_scanned.exactly = counts;
    proviso_scanned.has_real = proviso_scanned.skipped = proviso_scanned.looks_ahead = 0;
    proviso_scanned.bytes = 0;
    return 1;
}

// The next input does not match. If nothing was read before, it remains the next input.
static void proviso_scan_misfits(struct proviso_stream *stream, struct proviso_directive *d) {
    char c = d->conversion;
    if (c == 0 || c == '%' || c == '[') {
        // If white space was skipped, arbitrary input may follow.
        if (d->after_space || c == '%')
            proviso_exclude_nothing(stream);
        if (c == '[')
            proviso_excludes_set(stream, d->set, d->set_end, d->complement);
        else
            proviso_excludes_set(stream, &d->literal, &d->literal + 1, 0);
    } else {
        proviso_excludes(stream, proviso_is_integer_conversion(c) ? proviso_digits_class(c) : 0);
        // The input may have ended after a sign.
        if (__proviso_env_bool())
            proviso_end_of_input(stream);
    }
}

// Returns 0 if the next input matches the directive, 1 if not, EOF at the end of the input. %s and %c match everything.
// A literal character is then read.
static int proviso_scan_fits(struct proviso_stream *stream, struct proviso_directive *d) {
    char c = d->conversion;
    if (!stream->at_end && __proviso_env_bool()) {
        if (c == 0 || c == '%') {
            proviso_scans_first(stream, d->literal, d->after_space || c == '%');
            proviso_scans(1, !d->after_space && c == 0);
        }
        return 0;
    }
    if (!stream->at_end && c != 's' && c != 'c' && !__proviso_env_bool()) {
        proviso_scan_misfits(stream, d);
        return 1;
    }
    if (!stream->at_end)
        proviso_end_of_input(stream);
    SET_ERRNO_IF(stream->at_end && __proviso_env_bool(), 0);
    return EOF;
}

// The last number or word, or trailing white space of the format, may have reached the end of the input.
static void proviso_scan_ends(struct proviso_stream *stream, _Bool space) {
    if (space)
        proviso_exclude_nothing(stream);
    if ((space || proviso_scanned.looks_ahead) && __proviso_env_bool() && !stream->at_end)
        proviso_end_of_input(stream);
}

// True if a format has a %n.
static _Bool proviso_asks_count(const char *format) {
    while (*format) {
        _Bool converts = *format == '%';
        format++;
        if (converts && proviso_parse_directive(&format).conversion == 'n')
            return 1;
    }
    return 0;
}

// Harnesses know the order of these choices (`driver/src/environment/scan.rs`).
static int proviso_scan_input(struct proviso_stream *stream, const char *format, struct proviso_scan_args *args,
                              _Bool *at_limit) {
    int items = 0;
    _Bool after_space = 0;
    if (!proviso_scan_begins(stream, proviso_asks_count(format)))
        return EOF;
    while (*format) {
        if (proviso_is_space(*format)) {
            format++;
            after_space = 1;
            continue;
        }
        struct proviso_directive d = {.literal = *format};
        if (*format == '%') {
            format++;
            d = proviso_parse_directive(&format);
            d.literal = '%';
        } else {
            format++;
        }
        d.after_space = after_space;
        if (d.conversion == 'n') {
            proviso_scan_directive(stream, &d, proviso_scan_target(&d, args));
            continue;
        }
        if (proviso_is_wide(&d) || d.allocates) {
            __proviso_unmodelled("this conversion of scanf is not modelled");
            return items;
        }
        after_space = 0;
        int fits = proviso_scan_fits(stream, &d);
        if (fits != 0)
            return items ? items : fits == EOF ? EOF : 0;
        if (d.conversion == 0 || d.conversion == '%')
            continue;
        *at_limit |= proviso_scan_directive(stream, &d, proviso_scan_target(&d, args));
        items += !d.suppressed;
    }
    proviso_scan_ends(stream, after_space);
    return items;
}

static int proviso_scan_stream(struct proviso_stream *stream, const char *format, struct proviso_scan_args *args,
                               _Bool wide) {
    _Bool at_limit = 0;
    USE(stream);
    USE_ALL();
    if (wide)
        WIDE(stream);
    else
        BYTES(stream);
    int items = proviso_scan_input(stream, format, args, &at_limit);
    SET_ERRNO_IF(at_limit && __proviso_env_bool(), ERANGE);
    return items;
}

// From a string.

// The rest of a string. If the end was reached, the library stores the current `errno` and restores it when it searches
// for more input.
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

// True if the rest is empty.
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

// The next character of a floating-point number in lower case, if the field has room and the text continues. 0 otherwise.
static char proviso_field_character(struct proviso_text *text, const char *s, size_t *width) {
    text->s = s;
    if (*width == 0 || proviso_reads_end(text, ERRNO_NOW))
        return 0;
    --*width;
    return *s | (*s >= 'A' && *s <= 'Z' ? 0x20 : 0);
}

// The end of a floating-point number as `scanf` parses it. Unlike `strtod`, it does not fall back to a shorter number
// if a longer one is incomplete. Null if the text does not match.
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
        // The field must have room for more afterwards.
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
        // Reads at most as many characters as the word has.
        if (number.kind == PROVISO_DECIMAL || number.kind == PROVISO_HEX || end[-1] == 'f' || end[-1] == 'F')
            proviso_reads_end(text, ERRNO_NOW);
    }
    if (number.kind == PROVISO_NONE)
        return 0;
    // A suppressed conversion is also executed, because it may be out of range.
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

// The target of characters: the object that an argument points to, or (%m) new memory whose address is stored there.
static void *proviso_text_target(struct proviso_directive *d, void *target, size_t size) {
    if (d->suppressed || !d->allocates)
        return target;
    // The caller checked that there is memory before anything was read.
    return *(void **)target = __proviso_make_malloc(size);
}

// Executes a conversion, to `to` unless suppressed. Returns whether the text matches. At the end of the text, %c may store fewer characters.
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
    // The size of the allocated memory must be known first.
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

// Skips white space if the conversion or the preceding format requires it. Conversion 0 is a literal
// character.
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

// Called after the last conversion.
static void proviso_skip_behind(struct proviso_text *text, _Bool space) {
    if (space) {
        text->s = proviso_behind_space(text->s);
        proviso_reads_end(text, ERRNO_NOW);
    }
}

// There is no memory for a conversion with %m. The memory of earlier ones is freed, and their pointers become null.
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

// If the format is known, calls of `scanf`, `fscanf` and `sscanf` call the following functions directive by directive (`lower/input.rs`).

#define PART(result, function, label, ...)                                                                           \
    extern result function(__VA_ARGS__) __asm__(label);                                                              \
    result function(__VA_ARGS__)

#define DIRECTIVE                                                                                                    \
    _Bool suppressed, char conversion, char literal, char length, int width, _Bool after_space, _Bool complement,    \
        const char *set, const char *set_end
#define THE_DIRECTIVE                                                                                                \
    {                                                                                                                \
        .suppressed = suppressed, .width = width, .length = length, .conversion = conversion, .literal = literal,    \
        .after_space = after_space, .set = set, .set_end = set_end, .complement = complement                         \
    }

PART(struct proviso_stream *, proviso_scan_part_stdin, "scanf.stdin", void) { return stdin; }

PART(_Bool, proviso_scan_part_begin, "scanf.begin", struct proviso_stream *stream, _Bool counts) {
    USE(stream);
    USE_ALL();
    BYTES(stream);
    return proviso_scan_begins(stream, counts);
}

PART(int, proviso_scan_part_fits, "scanf.fits", struct proviso_stream *stream, DIRECTIVE) {
    struct proviso_directive d = THE_DIRECTIVE;
    return proviso_scan_fits(stream, &d);
}

PART(_Bool, proviso_scan_part_convert, "scanf.convert", struct proviso_stream *stream, void *target, DIRECTIVE) {
    struct proviso_directive d = THE_DIRECTIVE;
    return proviso_scan_directive(stream, &d, target);
}

PART(void, proviso_scan_part_end, "scanf.end", struct proviso_stream *stream, _Bool space) { proviso_scan_ends(stream, space); }

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
