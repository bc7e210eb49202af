// wchar.h: memory and strings of wide characters.
#include "harness.h"
#include <inttypes.h>
#include <limits.h>
#include <wchar.h>
#include <wctype.h>

extern wchar_t *wcschrnul(const wchar_t *, wchar_t);

// Few characters, so that strings have common parts, and some that differ only in high bits.
static wchar_t character(void) {
    return random_below(8) ? ONE_OF(L'a', L'b', L',', L';', L' ', L'A', 0x161, 0x20ac, 0x100061)
                           : (wchar_t)(random_bits() & 0x7fffffff);
}

// A block of random characters, some of which are 0.
static wchar_t *block(size_t size) {
    wchar_t *p = (wchar_t *)room(size * sizeof(wchar_t));
    for (size_t i = 0; i < size; i++)
        p[i] = random_below(9) ? character() : 0;
    return p;
}

// A string of at most `max` characters in a block of `size` characters.
static wchar_t *string_in(size_t size, size_t max) {
    wchar_t *p = (wchar_t *)room(size * sizeof(wchar_t));
    size_t n = random_below(max + 1), i = 0;
    for (; i < n; i++) {
        p[i] = character();
        if (!p[i])
            p[i] = L'a';
    }
    p[i] = 0;
    return p;
}

static wchar_t *string(size_t max) { return string_in(max + 1, max); }

// Two similar strings.
static void strings_alike(wchar_t **a, wchar_t **b) {
    *a = string(20);
    size_t n = wcslen(*a);
    *b = (wchar_t *)room((n + 1) * sizeof(wchar_t));
    memcpy(*b, *a, (n + 1) * sizeof(wchar_t));
    if (n && random_below(4))
        (*b)[random_below(n)] = character();
}

#define COPY(name)                                                                                                   \
    DRIVER(name) {                                                                                                   \
        size_t n = random_below(40);                                                                                 \
        wchar_t *src = block(n), *dst = (wchar_t *)room((n + random_below(4)) * sizeof(wchar_t));                    \
        see_pointer(LIB(name)(dst, src, n));                                                                         \
    }
COPY(wmemcpy)
COPY(wmempcpy)
DRIVER(wmemmove) {
    size_t n = random_below(30), from = random_below(10), to = random_below(10);
    wchar_t *p = block(40);
    see_pointer(LIB(wmemmove)(p + to, p + from, n));
}
DRIVER(wmemset) {
    size_t n = random_below(40);
    wchar_t *p = (wchar_t *)room((n + random_below(4)) * sizeof(wchar_t));
    see_pointer(LIB(wmemset)(p, character(), n));
}
DRIVER(wmemcmp) {
    asks_environment();
    size_t n = random_below(20);
    wchar_t *a = block(n), *b = (wchar_t *)room(n * sizeof(wchar_t));
    memcpy(b, a, n * sizeof(wchar_t));
    if (n && random_below(4))
        b[random_below(n)] = character();
    see(LIB(wmemcmp)(a, b, n));
}
DRIVER(wmemchr) {
    size_t n = random_below(20);
    wchar_t *p = block(n);
    see_pointer(LIB(wmemchr)(p, character(), n));
}

DRIVER(wcslen) { see(LIB(wcslen)(string(30))); }
DRIVER(wcsnlen) {
    size_t n = random_below(40);
    wchar_t *p = block(n);
    see(LIB(wcsnlen)(p, n));
}
#define COPY_STRING(name)                                                                                            \
    DRIVER(name) {                                                                                                   \
        wchar_t *src = string(30), *dst = (wchar_t *)room((31 + random_below(9)) * sizeof(wchar_t));                 \
        see_pointer(LIB(name)(dst, src));                                                                            \
    }
COPY_STRING(wcscpy)
COPY_STRING(wcpcpy)
#define COPY_STRING_N(name)                                                                                          \
    DRIVER(name) {                                                                                                   \
        size_t n = random_below(40);                                                                                 \
        wchar_t *src = string(30), *dst = (wchar_t *)room((n + random_below(9)) * sizeof(wchar_t));                  \
        see_pointer(LIB(name)(dst, src, n));                                                                         \
    }
COPY_STRING_N(wcsncpy)
COPY_STRING_N(wcpncpy)
DRIVER(wcscat) {
    wchar_t *src = string(30), *dst = string_in(62, 30);
    see_pointer(LIB(wcscat)(dst, src));
}
DRIVER(wcsncat) {
    wchar_t *src = string(30), *dst = string_in(62, 30);
    see_pointer(LIB(wcsncat)(dst, src, random_below(40)));
}
DRIVER(wcsdup) {
    wchar_t *s = string(30), *copy = LIB(wcsdup)(s);
    see_bytes(copy, (wcslen(s) + 1) * sizeof(wchar_t));
    release(copy);
}

#define COMPARE_STRINGS(name)                                                                                        \
    DRIVER(name) {                                                                                                   \
        asks_environment();                                                                                          \
        wchar_t *a, *b;                                                                                              \
        strings_alike(&a, &b);                                                                                      \
        see(LIB(name)(a, b));                                                                                        \
    }
COMPARE_STRINGS(wcscmp)
COMPARE_STRINGS(wcscoll)
COMPARE_STRINGS(wcscasecmp)
DRIVER(wcsncasecmp) {
    wchar_t *a, *b;
    strings_alike(&a, &b);
    see(LIB(wcsncasecmp)(a, b, random_below(25)));
}
DRIVER(wcsxfrm) {
    size_t n = random_below(40);
    wchar_t *s = string(30);
    see(LIB(wcsxfrm)((wchar_t *)room((n + random_below(4)) * sizeof(wchar_t)), s, n));
}
DRIVER(wcsncmp) {
    asks_environment();
    wchar_t *a, *b;
    strings_alike(&a, &b);
    see(LIB(wcsncmp)(a, b, random_below(25)));
}

#define SEARCH(name)                                                                                                 \
    DRIVER(name) {                                                                                                   \
        wchar_t *s = string(30);                                                                                     \
        see_pointer(LIB(name)(s, random_below(9) ? character() : 0));                                                \
    }
SEARCH(wcschr)
SEARCH(wcsrchr)
SEARCH(wcschrnul)
DRIVER(wcsspn) { see(LIB(wcsspn)(string(30), string(5))); }
DRIVER(wcscspn) { see(LIB(wcscspn)(string(30), string(5))); }
DRIVER(wcspbrk) { see_pointer(LIB(wcspbrk)(string(30), string(5))); }
DRIVER(wcsstr) { see_pointer(LIB(wcsstr)(string(30), string(2))); }
DRIVER(wcstok) {
    wchar_t *s = string(30), *rest;
    for (unsigned i = 0; i < 8; i++) {
        wchar_t *token = LIB(wcstok)(i ? NULL : s, ONE_OF(L", ", L",;", L";", L"", L" ,;"), &rest);
        see_pointer(token);
        if (!token)
            break;
    }
}

// Classes of characters.
#define WIDE_CLASS(name)                                                                                             \
    DRIVER(name) { see(LIB(name)(random_below(9) ? random_below(300) : (wint_t)random_bits())); }
WIDE_CLASS(iswalnum)
WIDE_CLASS(iswalpha)
WIDE_CLASS(iswblank)
WIDE_CLASS(iswcntrl)
WIDE_CLASS(iswdigit)
WIDE_CLASS(iswgraph)
WIDE_CLASS(iswlower)
WIDE_CLASS(iswprint)
WIDE_CLASS(iswpunct)
WIDE_CLASS(iswspace)
WIDE_CLASS(iswupper)
WIDE_CLASS(iswxdigit)
WIDE_CLASS(towlower)
WIDE_CLASS(towupper)

// Multibyte characters.
DRIVER(btowc) { see(LIB(btowc)(random_below(9) ? (int)random_below(400) - 50 : (int)random_bits())); }
DRIVER(wctob) { see(LIB(wctob)(random_below(9) ? random_below(400) : (wint_t)random_bits())); }
static wchar_t *wide_or_null(void) { return random_below(4) ? (wchar_t *)room(sizeof(wchar_t)) : NULL; }
// A byte, or null, which the functions permit.
static char *byte(void) {
    if (random_below(5) == 0)
        return NULL;
    char *s = room(1);
    *s = random_below(3) ? random_below(128) : random_bits();
    return s;
}
DRIVER(mbrtowc) {
    mbstate_t state = {0};
    wchar_t *result = wide_or_null();
    char *s = byte();
    see(LIB(mbrtowc)(result, s, s ? random_below(2) : random_below(9), random_below(2) ? &state : NULL));
    see(LIB(mbsinit)(&state) != 0);
    see(LIB(mbsinit)(NULL) != 0);
}
DRIVER(mbrlen) {
    mbstate_t state = {0};
    see(LIB(mbrlen)(byte(), random_below(2), &state));
}
DRIVER(mbtowc) {
    wchar_t *result = wide_or_null();
    see(LIB(mbtowc)(result, byte(), random_below(2)));
}
DRIVER(mblen) { see(LIB(mblen)(byte(), random_below(2))); }
static wchar_t maybe_ascii(void) { return random_below(3) ? (wchar_t)random_below(128) : character(); }
DRIVER(wcrtomb) {
    mbstate_t state = {0};
    wchar_t c = maybe_ascii();
    see(LIB(wcrtomb)(random_below(4) ? room(MB_LEN_MAX) : NULL, c, &state));
}
DRIVER(wctomb) {
    wchar_t c = maybe_ascii();
    see(LIB(wctomb)(random_below(4) ? room(MB_LEN_MAX) : NULL, c));
}
DRIVER(mbstowcs) {
    char *s = random_string(12, random_below(3) ? "ab c" : "abcdef\xe4");
    size_t n = random_below(16);
    see(LIB(mbstowcs)(random_below(4) ? (wchar_t *)room(n * sizeof(wchar_t)) : NULL, s, n));
}
DRIVER(wcstombs) {
    wchar_t *s = (wchar_t *)room(13 * sizeof(wchar_t));
    size_t length = random_below(13), n = random_below(16);
    for (size_t i = 0; i < length; i++)
        s[i] = random_below(12) ? L'a' + (wchar_t)random_below(26) : character();
    s[length] = 0;
    see(LIB(wcstombs)(random_below(4) ? room(n) : NULL, s, n));
}
// The same conversion with its end position, and in parts.
DRIVER(mbsrtowcs) {
    mbstate_t state = {0};
    const char *s = random_string(12, random_below(3) ? "ab c" : "abcdef\xe4"), *from = s;
    size_t n = random_below(16), most = random_below(16);
    wchar_t *result = random_below(4) ? (wchar_t *)room(n * sizeof(wchar_t)) : NULL;
    if (random_below(2))
        see(LIB(mbsrtowcs)(result, &from, n, &state));
    else
        see(LIB(mbsnrtowcs)(result, &from, most, n, &state));
    see_pointer(from);
}
DRIVER(wcsrtombs) {
    mbstate_t state = {0};
    wchar_t *s = (wchar_t *)room(13 * sizeof(wchar_t));
    const wchar_t *from = s;
    size_t length = random_below(13), n = random_below(16), most = random_below(16);
    for (size_t i = 0; i < length; i++)
        s[i] = random_below(12) ? L'a' + (wchar_t)random_below(26) : character();
    s[length] = 0;
    char *result = random_below(4) ? room(n) : NULL;
    if (random_below(2))
        see(LIB(wcsrtombs)(result, &from, n, &state));
    else
        see(LIB(wcsnrtombs)(result, &from, most, n, &state));
    see_pointer(from);
}
DRIVER(mbstowcs_chk) {
    extern size_t __mbstowcs_chk(wchar_t *, const char *, size_t, size_t);
    size_t n = random_below(16), size = (n + random_below(4)) * sizeof(wchar_t) - random_below(3);
    see(LIB(__mbstowcs_chk)((wchar_t *)room(16 * sizeof(wchar_t)), random_string(12, "ab c"), n, size > 64 ? 0 : size));
}
DRIVER(wcstombs_chk) {
    extern size_t __wcstombs_chk(char *, const wchar_t *, size_t, size_t);
    size_t n = random_below(16), size = n + random_below(4) - 1;
    see(LIB(__wcstombs_chk)(room(16), L"a b c", n, size > 64 ? 0 : size));
}

// Classes by name.
static const char *class_name(void) {
    return ONE_OF("alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
                  "xdigit", "", "alph", "digits");
}
DRIVER(wctype) {
    wctype_t class = LIB(wctype)(class_name());
    see(class != 0);
    wint_t c = random_below(9) ? random_below(300) : (wint_t)random_bits();
    see(LIB(iswctype)(c, class) != 0);
}
DRIVER(wctrans) {
    wctrans_t mapping = LIB(wctrans)(ONE_OF("tolower", "toupper", "", "other"));
    see(mapping != 0);
    if (mapping)
        see(LIB(towctrans)(random_below(9) ? random_below(300) : (wint_t)random_bits(), mapping));
}
DRIVER(wcwidth) { see(LIB(wcwidth)(random_below(9) ? (int)random_below(300) : (wchar_t)random_bits())); }
DRIVER(wcswidth) {
    size_t n = random_below(20);
    wchar_t *s = (wchar_t *)room(n * sizeof(wchar_t));
    for (size_t i = 0; i < n; i++)
        s[i] = random_below(9) ? L'a' : random_below(2) ? character() : 0;
    see(LIB(wcswidth)(s, n));
}

// Conversion of texts that resemble numbers.
static wchar_t *nearly_a_number(void) {
    static const char *const parts[] = {
        " ",   "\t",  "-",   "+",   "0x",   "0X",       "0",   "9223372036854775807",  "7",  "8",
        "f",   "Z",   "12",  "1e",  "e5",   ".",        "x",   "18446744073709551616", "3",  "2147483648",
        "0b1", "inf", "nan", "p3",  "1.5",  "nan(a1)",  "e-7", "-9223372036854775808", "00", "16777217",
        "INF", "e+",  "p-2", "e30", "e308", "infinity", "0b",  "4294967295",           "_",  "\v", "\xe4"};
    char text[128] = "";
    for (unsigned n = random_below(5); n > 0; n--)
        strcat(text, parts[random_below(sizeof parts / sizeof *parts)]);
    say("a string \"%s\"", text);
    wchar_t *wide = (wchar_t *)room((strlen(text) + 1) * sizeof(wchar_t));
    for (size_t i = 0; i <= strlen(text); i++)
        wide[i] = text[i] == '\xe4' ? 0x130 : text[i];
    return wide;
}
#define WCSTO(name)                                                                                                  \
    DRIVER(name) {                                                                                                   \
        wchar_t *s = nearly_a_number(), *end = s + 1;                                                                \
        int base = random_below(3) ? (int)random_below(39) - 1 : random_below(2) ? 0 : 10;                           \
        _Bool with_end = random_below(8);                                                                            \
        say(#name " base %d", base);                                                                                 \
        see(LIB(name)(s, with_end ? &end : NULL, base));                                                             \
        see_pointer(end);                                                                                            \
    }
WCSTO(wcstol)
WCSTO(wcstoul)
WCSTO(wcstoll)
WCSTO(wcstoull)
WCSTO(wcstoimax)
WCSTO(wcstoumax)
#define WCSTOR(name)                                                                                                 \
    DRIVER(name) {                                                                                                   \
        may_approximate();                                                                                           \
        wchar_t *s = nearly_a_number(), *end = s;                                                                    \
        see_real(LIB(name)(s, random_below(8) ? &end : NULL));                                                       \
        see_pointer(end);                                                                                            \
    }
WCSTOR(wcstod)
WCSTOR(wcstof)
WCSTOR(wcstold)
