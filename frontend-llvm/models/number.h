// Parses numbers in text of `PROVISO_CHARACTER` with functions named by `PROVISO_OF_TEXT`. number.c and wnumber.c include it.

// Parses an integer like `strtol`, from at most `max` characters. `binary`: accepts the prefix 0b, as in C23. `scan`:
// like `scanf`, which does not go back if no digit follows a prefix.
static struct proviso_integer PROVISO_OF_TEXT(proviso_read_integer)(const PROVISO_CHARACTER *s, size_t max, int base,
                                                                    _Bool binary, _Bool scan) {
    unsigned long long magnitude = 0;
    _Bool negative = 0, too_big = 0;
    const PROVISO_CHARACTER *end = s;
    const PROVISO_CHARACTER *limit = max >= (UINTPTR_MAX - (uintptr_t)s) / sizeof *s
                                         ? (const PROVISO_CHARACTER *)UINTPTR_MAX
                                         : s + max;
    while (s != limit && proviso_is_space(*s))
        s++;
    if (s != limit && (*s == '-' || *s == '+')) {
        negative = *s == '-';
        s++;
    }
    // If the base has no prefix, there is no branch on characters.
    if (((base == 0) | (base == 16) | ((base == 2) & binary)) && s != limit && *s == '0') {
        if (s + 1 != limit && (scan || s + 2 != limit)) {
            PROVISO_CHARACTER prefix = s[1];
            if ((prefix | 0x20) == 'x' && (base == 0 || base == 16) && (scan || proviso_digit(s[2]) < 16)) {
                base = 16;
                s += 2;
                end = s;
            } else if (binary && (prefix | 0x20) == 'b' && (base == 0 || base == 2) && (scan || proviso_digit(s[2]) < 2)) {
                base = 2;
                s += 2;
                end = s;
            }
        }
        if (base == 0)
            base = 8;
    }
    if (base == 0)
        base = 10;
    unsigned digits = 0;
    while (s != limit) {
        unsigned digit = proviso_digit_in(*s, base);
        if (digit >= (unsigned)base)
            break;
        // A digit is not null. This is for the analyses.
        __proviso_assume(*s != 0);
        // This many digits fit in any case, so no overflow check is needed.
        if (digits < (base <= 10 ? 19 : 12)) {
            magnitude = magnitude * base + digit;
            digits++;
        } else {
            unsigned long long most = ~0ull / base;
            too_big |= (magnitude > most) | ((magnitude == most) & (digit > ~0ull % base));
            magnitude = magnitude * base + digit;
        }
        s++;
        end = s;
    }
    return (struct proviso_integer){magnitude, negative, too_big, end};
}

// True if `s` starts with `word` (in lower case), ignoring case.
static _Bool PROVISO_OF_TEXT(proviso_starts_with)(const PROVISO_CHARACTER *s, const char *word) {
    for (; *word; s++, word++) {
        if ((*s | 0x20) != *word)
            return 0;
    }
    return 1;
}

// Parses a number like `strtod`.
static struct proviso_real PROVISO_OF_TEXT(proviso_read_real)(const PROVISO_CHARACTER *s) {
    struct proviso_real result = {PROVISO_NONE, 0, 0, 0, 0, s};
    while (proviso_is_space(*s))
        s++;
    if (*s == '-' || *s == '+') {
        result.negative = *s == '-';
        s++;
    }
    if (PROVISO_OF_TEXT(proviso_starts_with)(s, "inf")) {
        result.kind = PROVISO_INFINITY;
        result.end = s + (PROVISO_OF_TEXT(proviso_starts_with)(s, "infinity") ? 8 : 3);
        return result;
    }
    if (PROVISO_OF_TEXT(proviso_starts_with)(s, "nan")) {
        result.kind = PROVISO_NAN;
        s += 3;
        result.end = s;
        if (*s == '(') {
            do
                s++;
            while (proviso_digit(*s) < 36 || *s == '_');
            if (*s == ')')
                result.end = s + 1;
        }
        return result;
    }
    int base = 10;
    if (*s == '0' && (s[1] == 'x' || s[1] == 'X') &&
        (proviso_digit(s[2]) < 16 || (s[2] == '.' && proviso_digit(s[3]) < 16))) {
        base = 16;
        s += 2;
    }
    _Bool point = 0, digits = 0;
    int step = base == 16 ? 4 : 1;
    for (;; s++) {
        if (*s == '.' && !point) {
            point = 1;
            continue;
        }
        unsigned digit = proviso_digit_in(*s, base);
        if (digit >= (unsigned)base)
            break;
        digits = 1;
        if (result.mantissa <= (0xffffffffffffffff - 15) / 16) {
            result.mantissa = result.mantissa * base + digit;
            result.exponent -= point ? step : 0;
        } else {
            result.inexact |= digit != 0;
            result.exponent += point ? 0 : step;
        }
    }
    if (!digits)
        return result;
    result.kind = base == 16 ? PROVISO_HEX : PROVISO_DECIMAL;
    result.end = s;
    if ((*s | 0x20) == (base == 16 ? 'p' : 'e')) {
        s++;
        _Bool negative = *s == '-';
        if (*s == '-' || *s == '+')
            s++;
        if (proviso_digit_in(*s, 10) < 10) {
            int exponent = 0;
            for (; proviso_digit_in(*s, 10) < 10; s++) {
                if (exponent < 100000)
                    exponent = exponent * 10 + (*s - '0');
            }
            result.exponent += negative ? -exponent : exponent;
            result.end = s;
        }
    }
    return result;
}
