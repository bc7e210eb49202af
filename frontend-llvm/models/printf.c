// Defines: printf vprintf fprintf vfprintf dprintf vdprintf sprintf vsprintf snprintf vsnprintf asprintf vasprintf
// Defines: __printf_chk __vprintf_chk __fprintf_chk __vfprintf_chk __sprintf_chk __vsprintf_chk __snprintf_chk
// Defines: __vsnprintf_chk __asprintf_chk __vasprintf_chk __dprintf_chk __vdprintf_chk printf.void vprintf.void
// Defines: fprintf.void vfprintf.void dprintf.void __printf_chk.void
// Defines: vdprintf.void __vprintf_chk.void __fprintf_chk.void __vfprintf_chk.void
// Defines: printf.plain fprintf.plain dprintf.plain __printf_chk.plain __fprintf_chk.plain printf.string
#pragma once
#include "descriptors.c"
#include "stream.c"

// Formatted output. Output to a stream has no effect, but every argument is read, and `%n` writes. Output does not
// fail.

struct proviso_output {
    // For text: bytes up to `room` are stored. Otherwise they are only counted, without a branch on a value.
    _Bool text;
    // Wide characters.
    _Bool wide;
    // The output is impossible: the result is -1.
    _Bool failed;
    // A field was so wide that the length may exceed `int`.
    _Bool wide_field;
    void *buffer;
    size_t room;
    size_t length;
    // An upper bound on the bytes that were not counted, because they are not modelled.
    size_t unknown;
};

static void proviso_put(struct proviso_output *out, wchar_t c) {
    if (out->text && out->length < out->room) {
        if (out->wide)
            ((wchar_t *)out->buffer)[out->length] = c;
        else
            ((char *)out->buffer)[out->length] = c;
    }
    out->length++;
}

// The length exceeds `int`.
static int proviso_too_long(struct proviso_output *out) {
    SET_ERRNO(EOVERFLOW);
    out->failed = 1;
    return -1;
}

// The number of bytes so far. If it is unknown, it is at least the counted number.
static int proviso_length(struct proviso_output *out) {
    if (out->failed)
        return -1;
    if (!out->unknown)
        return out->length;
    __proviso_overapproximated("the length of a printed floating-point number is not modelled exactly");
    if (out->wide_field && __proviso_env_bool())
        return proviso_too_long(out);
    int length = __proviso_env_int();
    __proviso_assume((length >= 0) & ((size_t)length - out->length <= out->unknown));
    return length;
}

static void proviso_pad(struct proviso_output *out, char c, size_t from, size_t to) {
    if (out->text) {
        for (; from < to && out->length < out->room; from++)
            proviso_put(out, c);
    }
    out->length += (to - from) * (to > from);
}

// The part between the % and the conversion.
struct proviso_spec {
    _Bool left, plus, space, alternative, zero;
    // The text has a width or a precision above INT_MAX.
    _Bool too_wide;
    unsigned width;
    // -1 if absent.
    int precision;
    // 'H' for hh, 'q' for ll.
    char length;
    char conversion;
};

static unsigned proviso_digits(unsigned long long x, unsigned base) {
    unsigned n = 1;
    unsigned long long power = base;
    for (;;) {
        n += x >= power;
        if (__builtin_mul_overflow(power, (unsigned long long)base, &power))
            return n;
    }
}

static void proviso_print_integer(struct proviso_output *out, struct proviso_spec *spec, unsigned long long x,
                                  _Bool negative, unsigned base) {
    _Bool is_signed = spec->conversion == 'd' || spec->conversion == 'i';
    char sign = negative ? '-' : spec->plus ? '+' : ' ';
    size_t signs = is_signed && (spec->plus || spec->space) ? 1 : negative;
    size_t digits = proviso_digits(x, base) - (spec->precision == 0) * (x == 0);
    size_t precision = spec->precision < 0 ? 0 : spec->precision;
    // `#`: a leading 0 for octal numbers, 0x for nonzero hexadecimal ones.
    size_t prefix = 0;
    if (spec->alternative && base == 16)
        prefix = 2 * (x != 0);
    if (spec->alternative && base == 8) {
        size_t at_least = digits + (x != 0 || spec->precision == 0);
        precision += (at_least - precision) * (at_least > precision);
    }
    size_t body = digits + (precision - digits) * (precision > digits);
    size_t width = spec->width;
    if (spec->zero && !spec->left && spec->precision < 0) {
        size_t rest = width - signs - prefix;
        body += (rest - body) * (width > signs + prefix + body);
    }
    size_t total = signs + prefix + body;
    if (!out->text) {
        out->length += total + (width - total) * (width > total);
        return;
    }
    if (!spec->left)
        proviso_pad(out, ' ', total, width);
    if (signs)
        proviso_put(out, sign);
    if (prefix) {
        proviso_put(out, '0');
        proviso_put(out, spec->conversion == 'X' ? 'X' : 'x');
    }
    proviso_pad(out, '0', digits, body);
    char reversed[24];
    for (size_t i = 0; i < digits; i++) {
        unsigned digit = x % base;
        reversed[i] = digit < 10 ? '0' + digit : (spec->conversion == 'X' ? 'A' : 'a') + (digit - 10);
        x /= base;
    }
    for (size_t i = digits; i > 0; i--)
        proviso_put(out, reversed[i - 1]);
    if (spec->left)
        proviso_pad(out, ' ', total, width);
}

static void proviso_print_string(struct proviso_output *out, struct proviso_spec *spec, const void *s, _Bool wide,
                                 size_t length) {
    if (!spec->left)
        proviso_pad(out, ' ', length, spec->width);
    if (out->text) {
        for (size_t i = 0; i < length; i++)
            proviso_put(out, wide ? ((const wchar_t *)s)[i] : ((const char *)s)[i]);
    } else {
        out->length += length;
    }
    if (spec->left)
        proviso_pad(out, ' ', length, spec->width);
}

// Unknown text with bounds on its length.
static void proviso_print_unknown(struct proviso_output *out, struct proviso_spec *spec, size_t low, size_t high) {
    size_t width = spec->width;
    low = low < width ? width : low;
    high = high < width ? width : high;
    if (!out->text) {
        out->length += low;
        out->unknown += high - low;
        return;
    }
    size_t length = __proviso_env_size();
    __proviso_assume((length >= low) & (length <= high));
    __proviso_overapproximated("printing this floating-point number is not modelled exactly");
    for (size_t i = 0; i < length; i++) {
        char c = __proviso_env_char();
        __proviso_assume(c != 0);
        proviso_put(out, c);
    }
}

typedef unsigned _BitInt(128) proviso_u128;

// A finite number as %f prints it: 2^-72 < x < 2^64, or 0. The fraction is a fixed-point number with 124 bits after the
// point. Ten times a fraction fits that.
static void proviso_print_fixed(struct proviso_output *out, struct proviso_spec *spec, double x, _Bool negative) {
    const int point = 124;
    const proviso_u128 one = (proviso_u128)1 << point;
    unsigned long long integer = x;
    // Exact: the fraction has at most 53 bits, the lowest at 2^-124 or above.
    double above = (x - integer) * 0x1p62, below = (above - (double)(unsigned long long)above) * 0x1p62;
    proviso_u128 fraction = ((proviso_u128)(unsigned long long)above << 62) + (unsigned long long)below;
    int precision = spec->precision < 0 ? 6 : spec->precision;
    char *digits = __proviso_scratch(precision + 1);
    for (int i = 0; i < precision; i++) {
        fraction *= 10;
        digits[i] = '0' + (int)(fraction >> point);
        fraction &= one - 1;
    }
    // Rounds to nearest, ties to even.
    _Bool odd = precision ? digits[precision - 1] & 1 : integer & 1;
    if (fraction > one / 2 || (fraction == one / 2 && odd)) {
        int i = precision;
        while (i > 0 && digits[i - 1] == '9') {
            digits[i - 1] = '0';
            i--;
        }
        if (i > 0)
            digits[i - 1]++;
        else
            integer++;
    }
    _Bool dot = precision > 0 || spec->alternative;
    _Bool sign = negative || spec->plus || spec->space;
    size_t width = spec->width, total = sign + proviso_digits(integer, 10) + dot + precision;
    if (!spec->left && !spec->zero)
        proviso_pad(out, ' ', total, width);
    if (sign)
        proviso_put(out, negative ? '-' : spec->plus ? '+' : ' ');
    if (!spec->left && spec->zero)
        proviso_pad(out, '0', total, width);
    struct proviso_spec plain = {.precision = -1, .conversion = 'u'};
    proviso_print_integer(out, &plain, integer, 0, 10);
    if (dot)
        proviso_put(out, '.');
    for (int i = 0; i < precision; i++)
        proviso_put(out, digits[i]);
    if (spec->left)
        proviso_pad(out, ' ', total, width);
    __proviso_drop(digits);
}

static void proviso_print_real(struct proviso_output *out, struct proviso_spec *spec, long double x) {
    size_t precision = spec->precision < 0 ? 6 : spec->precision;
    // The maximal number of digits before the point: that of the greatest number of the type.
    size_t most = spec->length == 'L' ? 4933 : 309;
    if (!out->text) {
        proviso_print_unknown(out, spec, 1, most + precision + 10);
        return;
    }
    _Bool negative = __builtin_signbit(x);
    long double magnitude = negative ? -x : x;
    if (magnitude != magnitude || magnitude == __builtin_infl()) {
        _Bool upper = spec->conversion < 'a';
        char text[5];
        int n = 0;
        if (negative || spec->plus || spec->space)
            text[n++] = negative ? '-' : spec->plus ? '+' : ' ';
        const char *word = magnitude != magnitude ? (upper ? "NAN" : "nan") : (upper ? "INF" : "inf");
        for (int i = 0; i < 3; i++)
            text[n++] = word[i];
        proviso_print_string(out, spec, text, 0, n);
    } else if ((spec->conversion | 0x20) == 'f' && spec->length != 'L' && ROUNDS_TO_NEAREST &&
               (magnitude == 0 || (magnitude > 0x1p-72 && magnitude < 0x1p64))) {
        proviso_print_fixed(out, spec, magnitude, negative);
    } else if ((spec->conversion | 0x20) == 'f') {
        proviso_print_unknown(out, spec, precision + 1, most + precision + 2);
    } else {
        // %e, %g, %a: a digit, a point, more digits, an exponent, a sign, 0x. Without a precision, %a prints up to 15.
        proviso_print_unknown(out, spec, 1, (precision < 15 ? 15 : precision) + 20);
    }
}

struct proviso_args {
    va_list list;
    // The list before the first specification.
    va_list first;
};

// -1 if the number exceeds `int`.
static int proviso_number(const char **format) {
    long long n = 0;
    for (; **format >= '0' && **format <= '9'; ++*format) {
        if (n <= INT_MAX)
            n = n * 10 + (**format - '0');
    }
    return n <= INT_MAX ? n : -1;
}

// Parses a conversion specification. `format` points after its %.
static struct proviso_spec proviso_parse_spec(const char **format, struct proviso_args *args) {
    struct proviso_spec spec = {.precision = -1};
    for (;; ++*format) {
        if (**format == '-')
            spec.left = 1;
        else if (**format == '+')
            spec.plus = 1;
        else if (**format == ' ')
            spec.space = 1;
        else if (**format == '#')
            spec.alternative = 1;
        else if (**format == '0')
            spec.zero = 1;
        else if (**format != '\'' && **format != 'I')
            break;
    }
    if (**format == '*') {
        ++*format;
        int width = va_arg(args->list, int);
        spec.left |= width < 0;
        spec.width = width < 0 ? -(unsigned)width : (unsigned)width;
    } else {
        int width = proviso_number(format);
        spec.too_wide = width < 0;
        spec.width = width;
    }
    if (**format == '.') {
        ++*format;
        if (**format == '*') {
            ++*format;
            int precision = va_arg(args->list, int);
            spec.precision = precision < 0 ? -1 : precision;
        } else {
            spec.precision = proviso_number(format);
            spec.too_wide |= spec.precision < 0;
        }
    }
    switch (**format) {
    case 'h':
    case 'l':
        spec.length = **format;
        ++*format;
        if (**format == spec.length) {
            ++*format;
            spec.length = spec.length == 'h' ? 'H' : 'q';
        }
        break;
    case 'L':
    case 'q':
    case 'j':
    case 'z':
    case 'Z':
    case 't':
        spec.length = **format;
        ++*format;
        break;
    }
    spec.conversion = **format;
    ++*format;
    return spec;
}

static long long proviso_signed_argument(struct proviso_args *args, char length) {
    switch (length) {
    case 'H':
        return (signed char)va_arg(args->list, int);
    case 'h':
        return (short)va_arg(args->list, int);
    case 'l':
        return va_arg(args->list, long);
    case 'q':
    case 'L':
        return va_arg(args->list, long long);
    case 'j':
        return va_arg(args->list, intmax_t);
    case 'z':
    case 'Z':
    case 't':
        return va_arg(args->list, ssize_t);
    default:
        return va_arg(args->list, int);
    }
}

// The low bits of a value, as many as an argument of this length has.
static unsigned long long proviso_truncated(long long value, char length) {
    switch (length) {
    case 'H':
        return (unsigned char)value;
    case 'h':
        return (unsigned short)value;
    case 'l':
        return (unsigned long)value;
    case 'q':
    case 'L':
    case 'j':
        return value;
    case 'z':
    case 'Z':
    case 't':
        return (size_t)value;
    default:
        return (unsigned)value;
    }
}

static void proviso_store_count(void *target, char length, size_t count) {
    switch (length) {
    case 'H':
        *(signed char *)target = count;
        break;
    case 'h':
        *(short *)target = count;
        break;
    case 'l':
        *(long *)target = count;
        break;
    case 'q':
    case 'L':
    case 'j':
        *(long long *)target = count;
        break;
    case 'z':
    case 'Z':
    case 't':
        *(size_t *)target = count;
        break;
    default:
        *(int *)target = count;
        break;
    }
}

// In the locale "C", non-ASCII characters have no byte, and non-ASCII bytes no character.
static _Bool proviso_converts(struct proviso_output *out, _Bool wide, wchar_t c) {
    if (wide == out->wide || (c >= 0 && c < 0x80))
        return 1;
    SET_ERRNO(EILSEQ);
    out->failed = 1;
    return 0;
}

static void proviso_print_character(struct proviso_output *out, struct proviso_spec *spec, struct proviso_args *args) {
    _Bool wide = spec->length == 'l' || spec->conversion == 'C';
    wchar_t c = va_arg(args->list, int);
    if (wide || !out->wide) {
        if (!wide)
            c = (char)c;
        if (!wide || proviso_converts(out, 1, c))
            proviso_print_string(out, spec, &c, 1, 1);
        return;
    }
    c = (unsigned char)c;
    if (c < 0x80) {
        proviso_print_string(out, spec, &c, 1, 1);
        return;
    }
    // The GNU C library prints the replacement of an invalid character, and fails.
    if (!spec->left)
        proviso_pad(out, ' ', 1, spec->width);
    proviso_put(out, -1);
    out->failed = 1;
}

static void proviso_print_text_argument(struct proviso_output *out, struct proviso_spec *spec, const void *s) {
    _Bool wide = spec->length == 'l' || spec->conversion == 'S';
    // The text of a null pointer in the GNU C library.
    if (!s) {
        s = spec->precision >= 0 && spec->precision < 6 ? "" : "(null)";
        wide = 0;
    }
    size_t length = 0;
    for (; spec->precision < 0 || length < (size_t)spec->precision; length++) {
        wchar_t c = wide ? ((const wchar_t *)s)[length] : ((const char *)s)[length];
        if (!c)
            break;
        if (!proviso_converts(out, wide, c))
            return;
    }
    proviso_print_string(out, spec, s, wide, length);
    if (out->text && !wide && !out->wide) {
        // The minimal number of written bytes.
        size_t written = out->length < out->room ? out->length : out->room;
        REQUIRE_DISJOINT(s, length, out->buffer, written);
        (void)written;
    }
}

// A specification that the C standard does not define, and the rest of the format. From there on, the GNU C library may
// use any arguments, in any order (`%2$s`, `%1$n`). It may fail at any point.
static void proviso_print_anything(struct proviso_output *out, struct proviso_spec *spec, struct proviso_args *args) {
    __proviso_unknown_format("this conversion of printf is not modelled");
    spec->conversion = 0;
    for (size_t left = __proviso_env_size(); left; left--) {
        struct proviso_args any;
        va_copy(any.list, args->first);
        for (size_t before = __proviso_env_size(); before; before--)
            (void)va_arg(any.list, ssize_t);
        if (!__proviso_counts() || __proviso_env_bool()) {
            struct proviso_spec text = {.precision = __proviso_env_int(), .length = __proviso_env_bool() ? 'l' : 0};
            const void *argument = va_arg(any.list, const void *);
            __proviso_expose(argument);
            proviso_print_text_argument(out, &text, argument);
        } else {
            proviso_store_count(va_arg(any.list, void *), __proviso_env_char(), __proviso_env_size());
        }
    }
    out->wide_field = 1;
    if (__proviso_env_bool()) {
        SET_ERRNO(proviso_env_error());
        out->failed = 1;
    }
    if (!out->text) {
        out->unknown = INT_MAX;
        return;
    }
    for (size_t left = __proviso_env_size(); left; left--)
        proviso_put(out, __proviso_env_int());
}

// True if the C standard defines this length of this conversion.
static _Bool proviso_has_length(const struct proviso_spec *spec) {
    // Upper and lower case have the same lengths.
    switch (spec->conversion | 0x20) {
    case 'c':
    case 's':
        return !spec->length || spec->length == 'l';
    case 'e':
    case 'f':
    case 'g':
    case 'a':
        return !spec->length || spec->length == 'l' || spec->length == 'L';
    default:
        return 1;
    }
}

static void proviso_print_conversion(struct proviso_output *out, struct proviso_spec *spec, struct proviso_args *args) {
    if (!proviso_has_length(spec)) {
        proviso_print_anything(out, spec, args);
        return;
    }
    switch (spec->conversion) {
    case 'd':
    case 'i': {
        long long value = proviso_signed_argument(args, spec->length);
        _Bool negative = value < 0;
        // Two's complement negation without a branch.
        unsigned long long magnitude = ((unsigned long long)value ^ -(unsigned long long)negative) + negative;
        proviso_print_integer(out, spec, magnitude, negative, 10);
        break;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
        long long value = proviso_signed_argument(args, spec->length);
        unsigned base = spec->conversion == 'u' ? 10 : spec->conversion == 'o' ? 8 : 16;
        proviso_print_integer(out, spec, proviso_truncated(value, spec->length), 0, base);
        break;
    }
    case 'C':
    case 'c':
        proviso_print_character(out, spec, args);
        break;
    case 'S':
    case 's':
        proviso_print_text_argument(out, spec, va_arg(args->list, const void *));
        break;
    case 'p': {
        void *pointer = va_arg(args->list, void *);
        __proviso_expose(pointer);
        if (pointer) {
            spec->alternative = 1;
            spec->conversion = 'x';
            proviso_print_integer(out, spec, (uintptr_t)pointer, 0, 16);
        } else {
            proviso_print_string(out, spec, "(nil)", 0, 5);
        }
        break;
    }
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        if (spec->length == 'L')
            proviso_print_real(out, spec, va_arg(args->list, long double));
        else
            proviso_print_real(out, spec, va_arg(args->list, double));
        break;
    case 'n': {
        void *count = va_arg(args->list, void *);
        if (__proviso_counts())
            proviso_store_count(count, spec->length, proviso_length(out));
        break;
    }
    case 'm':
        proviso_print_unknown(out, spec, spec->precision < 0, 64);
        break;
    case '%':
        proviso_put(out, '%');
        break;
    default:
        proviso_print_anything(out, spec, args);
    }
}

// Only wide fields can make the length exceed `int`. Others leave it without a branch on a value.
static void proviso_limit_length(struct proviso_output *out) {
    if (out->wide_field && !out->failed && out->length > INT_MAX)
        proviso_too_long(out);
}

static void proviso_print_one(struct proviso_output *out, struct proviso_spec *spec, struct proviso_args *args) {
    enum { WIDE_FIELD = 1 << 16 };
    if (spec->too_wide) {
        proviso_too_long(out);
        return;
    }
    if (spec->width > WIDE_FIELD || spec->precision > WIDE_FIELD)
        out->wide_field = 1;
    proviso_print_conversion(out, spec, args);
    proviso_limit_length(out);
}

static void proviso_print(struct proviso_output *out, const char *format, struct proviso_args *args) {
    va_copy(args->first, args->list);
    while (*format) {
        if (*format != '%') {
            proviso_put(out, *format);
            format++;
            continue;
        }
        format++;
        struct proviso_spec spec = proviso_parse_spec(&format, args);
        proviso_print_one(out, &spec, args);
        if (!spec.conversion || out->failed)
            return;
    }
    proviso_limit_length(out);
}

static int proviso_print_stream(const char *format, struct proviso_args *args) {
    struct proviso_output out = {0};
    proviso_print(&out, format, args);
    return proviso_length(&out);
}

static void proviso_print_nowhere(const char *format, struct proviso_args *args) {
    struct proviso_output out = {0};
    proviso_print(&out, format, args);
}

static int proviso_print_text(char *buffer, size_t size, const char *format, struct proviso_args *args) {
    struct proviso_output out = {.text = 1, .buffer = buffer, .room = size ? size - 1 : 0};
    proviso_print(&out, format, args);
    if (size)
        buffer[out.length < size ? out.length : size - 1] = 0;
    return out.failed ? -1 : (int)out.length;
}

static int proviso_print_allocated(char **result, const char *format, struct proviso_args *args) {
    struct proviso_args again;
    va_copy(again.list, args->list);
    struct proviso_output out = {0};
    proviso_print(&out, format, args);
    if (out.failed)
        return -1;
    int length = proviso_length(&out);
    if (length < 0)
        return -1;
    char *text = malloc((size_t)length + 1);
    // If memory is exhausted, the pointer is undefined: libraries leave it unchanged or set it to null.
    if (text || __proviso_env_bool())
        *result = text;
    if (!text)
        return -1;
    if (out.unknown) {
        __proviso_env_memory(text, length);
        text[length] = 0;
    } else {
        proviso_print_text(text, (size_t)length + 1, format, &again);
    }
    va_end(again.list);
    return length;
}

// True if there is output to a descriptor. A descriptor that the program has not opened may be open or not.
static _Bool proviso_prints_to(int file) {
    proviso_share_with_stream(file);
    if (!proviso_is_one_way(file, PROVISO_READS) && (proviso_is_open(file) || (!proviso_is_closed(file) && __proviso_env_bool())))
        return 1;
    SET_ERRNO(EBADF);
    return 0;
}

// Each function with `...` and with a `va_list`. `before` are the parameters before the format.
#define UNPACK(...) __VA_ARGS__
#define PRINT(type, function, vfunction, before, body)                                                               \
    type vfunction(UNPACK before const char *format, va_list list) {                                                 \
        struct proviso_args args;                                                                                    \
        va_copy(args.list, list);                                                                                    \
        body                                                                                                         \
    }                                                                                                                \
    type function(UNPACK before const char *format, ...) {                                                           \
        struct proviso_args args;                                                                                    \
        va_start(args.list, format);                                                                                 \
        body                                                                                                         \
    }
// If the stream cannot be written to, nothing is read either.
#define TO(stream, result)                                                                                           \
    if (!proviso_writes(stream))                                                                                     \
        return result;
#define TO_DESCRIPTOR(file, result)                                                                                  \
    if (!proviso_prints_to(file))                                                                                    \
        return result;

PRINT(int, printf, vprintf, (), { TO(stdout, -1) return proviso_print_stream(format, &args); })
PRINT(int, fprintf, vfprintf, (struct proviso_stream * stream,), {
    TO(stream, -1) return proviso_print_stream(format, &args);
})
PRINT(int, dprintf, vdprintf, (int file,), {
    TO_DESCRIPTOR(file, -1) return proviso_print_stream(format, &args);
})
PRINT(int, sprintf, vsprintf, (char *buffer,), {
    return proviso_print_text(buffer, SIZE_MAX, format, &args);
})
PRINT(int, snprintf, vsnprintf, (char *buffer, size_t size,), {
    return proviso_print_text(buffer, size, format, &args);
})
PRINT(int, asprintf, vasprintf, (char **result,), {
    return proviso_print_allocated(result, format, &args);
})

// The fortified functions. They take the size of the buffer and abort if it is exceeded.
PRINT(int, __printf_chk, __vprintf_chk, (int flag,), {
    TO(stdout, -1) return proviso_print_stream(format, &args);
})
PRINT(int, __fprintf_chk, __vfprintf_chk, (struct proviso_stream * stream, int flag,), {
    TO(stream, -1) return proviso_print_stream(format, &args);
})
PRINT(int, __dprintf_chk, __vdprintf_chk, (int file, int flag,), {
    TO_DESCRIPTOR(file, -1) return proviso_print_stream(format, &args);
})
PRINT(int, __sprintf_chk, __vsprintf_chk, (char *buffer, int flag, size_t size,), {
    int length = proviso_print_text(buffer, size, format, &args);
    if ((size_t)length >= size)
        __proviso_abort();
    return length;
})
PRINT(int, __snprintf_chk, __vsnprintf_chk,
      (char *buffer, size_t size, int flag, size_t object_size,), {
    if (size > object_size)
        __proviso_abort();
    return proviso_print_text(buffer, size, format, &args);
})
PRINT(int, __asprintf_chk, __vasprintf_chk, (char **result, int flag,), {
    return proviso_print_allocated(result, format, &args);
})

// Variants for calls that ignore the result, so that it need not be known.

#define IGNORING(function, label, vfunction, vlabel, before, body)                                                   \
    extern void function(UNPACK before const char *format, ...) __asm__(label);                                      \
    extern void vfunction(UNPACK before const char *format, va_list list) __asm__(vlabel);                           \
    PRINT(void, function, vfunction, before, body)
#define NOWHERE proviso_print_nowhere(format, &args);

IGNORING(proviso_printf, "printf.void", proviso_vprintf, "vprintf.void", (), { TO(stdout, ) NOWHERE })
IGNORING(proviso_fprintf, "fprintf.void", proviso_vfprintf, "vfprintf.void", (struct proviso_stream * stream,), {
    TO(stream, ) NOWHERE
})
IGNORING(proviso_dprintf, "dprintf.void", proviso_vdprintf, "vdprintf.void", (int file,), {
    TO_DESCRIPTOR(file, ) NOWHERE
})
IGNORING(proviso_printf_chk, "__printf_chk.void", proviso_vprintf_chk, "__vprintf_chk.void", (int flag,), {
    TO(stdout, ) NOWHERE
})
IGNORING(proviso_fprintf_chk, "__fprintf_chk.void", proviso_vfprintf_chk, "__vfprintf_chk.void",
         (struct proviso_stream * stream, int flag,), { TO(stream, ) NOWHERE })

// Variants for calls with a known format: they only check the stream and read strings.

#define PLAIN(function, label, parameters, result)                                                                   \
    extern _Bool function parameters __asm__(label);                                                                 \
    _Bool function parameters {                                                                                      \
        return result;                                                                                               \
    }
PLAIN(proviso_printf_plain, "printf.plain", (void), proviso_writes(stdout))
PLAIN(proviso_fprintf_plain, "fprintf.plain", (struct proviso_stream * stream), proviso_writes(stream))
PLAIN(proviso_dprintf_plain, "dprintf.plain", (int file), proviso_prints_to(file))
PLAIN(proviso_printf_chk_plain, "__printf_chk.plain", (int flag), proviso_writes(stdout))
PLAIN(proviso_fprintf_chk_plain, "__fprintf_chk.plain", (struct proviso_stream * stream, int flag), proviso_writes(stream))

// The number of bytes of the string that are printed.
extern size_t proviso_read_string(const char *s, int precision) __asm__("printf.string");
size_t proviso_read_string(const char *s, int precision) {
    size_t n = 0;
    for (; s && (precision < 0 || n < (size_t)precision) && *s; n++)
        s++;
    return n;
}
