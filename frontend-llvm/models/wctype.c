// Defines: iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower iswprint iswpunct iswspace iswupper
// Defines: iswxdigit towlower towupper
#pragma once
#include "ctype.c"

// wctype.h in the locale "C": characters beyond ASCII are of no class.

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
