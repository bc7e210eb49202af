// Defines: iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper
// Defines: iswxdigit towlower towupper wctype iswctype wctrans towctrans wcwidth wcswidth
#pragma once
#include "ctype.c"

// wctype.h in the locale "C": non-ASCII characters belong to no class.

#define WIDE_CLASS(function, bits)                                                                                   \
    int function(wint_t c) { return bits(c) * (c < 0x80); }

WIDE_CLASS(iswalnum, IS_ALNUM)
WIDE_CLASS(iswalpha, IS_ALPHA)
WIDE_CLASS(iswblank, IS_BLANK)
WIDE_CLASS(iswcntrl, IS_CNTRL)
WIDE_CLASS(iswdigit, DIGIT)
WIDE_CLASS(iswgraph, IS_GRAPH)
WIDE_CLASS(iswlower, IS_LOWER)
WIDE_CLASS(iswprint, IS_PRINT)
WIDE_CLASS(iswpunct, IS_PUNCT)
WIDE_CLASS(iswspace, IS_SPACE)
WIDE_CLASS(iswupper, IS_UPPER)
WIDE_CLASS(iswxdigit, IS_XDIGIT)

wint_t towlower(wint_t c) { return LOWERED(c); }

wint_t towupper(wint_t c) { return UPPERED(c); }

// Classes and mappings by their names. They are represented by numbers from 1 on.

static _Bool proviso_is_named(const char *name, const char *known) {
    for (; *known && *name == *known; name++)
        known++;
    return *name == *known;
}

unsigned long wctype(const char *name) {
    static const char known[12][8] = {"alnum", "alpha", "blank", "cntrl", "digit", "graph",
                                      "lower", "print", "punct", "space", "upper", "xdigit"};
    for (int i = 0; i < 12; i++) {
        if (proviso_is_named(name, known[i]))
            return i + 1;
    }
    return 0;
}

int iswctype(wint_t c, unsigned long class) {
    unsigned is[13] = {0, IS_ALNUM(c), IS_ALPHA(c), IS_BLANK(c), IS_CNTRL(c), DIGIT(c), IS_GRAPH(c),
                       IS_LOWER(c), IS_PRINT(c), IS_PUNCT(c), IS_SPACE(c), IS_UPPER(c), IS_XDIGIT(c)};
    if (class > 12) {
        __proviso_unmodelled("this class of wide characters is not modelled");
        return 0;
    }
    return is[class] * (c < 0x80);
}

const int *wctrans(const char *name) {
    static const int mappings[2] = {1, 2};
    if (proviso_is_named(name, "tolower"))
        return &mappings[0];
    return proviso_is_named(name, "toupper") ? &mappings[1] : NULL;
}

wint_t towctrans(wint_t c, const int *mapping) {
    if (!mapping)
        return c;
    return *mapping == 1 ? LOWERED(c) : UPPERED(c);
}

// Columns of a terminal: none for the end of a string, -1 for a character that is not printable.
static int proviso_columns(wchar_t c) { return c ? 2 * (IS_PRINT(c) * (c < 0x80) != 0) - 1 : 0; }

int wcwidth(wchar_t c) { return proviso_columns(c); }

int wcswidth(const wchar_t *s, size_t n) {
    int width = 0;
    for (size_t i = 0; i < n && s[i]; i++) {
        if (proviso_columns(s[i]) < 0)
            return -1;
        width++;
    }
    return width;
}
