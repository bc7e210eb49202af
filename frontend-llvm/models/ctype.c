// Defines: isupper islower isalpha isdigit isxdigit isspace isprint isgraph isblank iscntrl ispunct isalnum isascii
// Defines: toascii tolower toupper _tolower _toupper
// Defines: __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc __ctype_get_mb_cur_max
#pragma once
#include "proviso.h"

// Characters in the "C" locale. The results have the same bits as in the GNU C library and are computed without branches.

#define BETWEEN(c, low, high) ((unsigned)((c) - (low)) <= (unsigned)((high) - (low)))
#define UPPER(c) BETWEEN(c, 'A', 'Z')
#define LOWER(c) BETWEEN(c, 'a', 'z')
#define DIGIT(c) BETWEEN(c, '0', '9')
#define GRAPH(c) BETWEEN(c, 0x21, 0x7e)
#define ALNUM(c) (UPPER(c) | LOWER(c) | DIGIT(c))

#define IS_UPPER(c) (UPPER(c) << 8)
#define IS_LOWER(c) (LOWER(c) << 9)
#define IS_ALPHA(c) ((UPPER(c) | LOWER(c)) << 10)
#define IS_DIGIT(c) (DIGIT(c) << 11)
#define IS_XDIGIT(c) ((DIGIT(c) | BETWEEN(c, 'A', 'F') | BETWEEN(c, 'a', 'f')) << 12)
#define IS_SPACE(c) ((((c) == ' ') | BETWEEN(c, '\t', '\r')) << 13)
#define IS_PRINT(c) ((((c) == ' ') | GRAPH(c)) << 14)
#define IS_GRAPH(c) (GRAPH(c) << 15)
#define IS_BLANK(c) (((c) == ' ') | ((c) == '\t'))
#define IS_CNTRL(c) ((BETWEEN(c, 0, 0x1f) | ((c) == 0x7f)) << 1)
#define IS_PUNCT(c) ((GRAPH(c) & !ALNUM(c)) << 2)
#define IS_ALNUM(c) (ALNUM(c) << 3)

// The C library looks the argument up in a table from -128 to 255. For other arguments the result is arbitrary.
static void proviso_check_character(int c) {
    if (c < -128 || c > 255)
        __proviso_unmodelled("a ctype.h function of what is no character is not modelled");
}

#define CLASS(function, bits)                                                                                        \
    int function(int c) {                                                                                            \
        proviso_check_character(c);                                                                                  \
        return bits(c);                                                                                              \
    }

CLASS(isupper, IS_UPPER)
CLASS(islower, IS_LOWER)
CLASS(isalpha, IS_ALPHA)
CLASS(isdigit, IS_DIGIT)
CLASS(isxdigit, IS_XDIGIT)
CLASS(isspace, IS_SPACE)
CLASS(isprint, IS_PRINT)
CLASS(isgraph, IS_GRAPH)
CLASS(isblank, IS_BLANK)
CLASS(iscntrl, IS_CNTRL)
CLASS(ispunct, IS_PUNCT)
CLASS(isalnum, IS_ALNUM)

int isascii(int c) { return (c & ~0x7f) == 0; }

int toascii(int c) { return c & 0x7f; }

// Negative characters except EOF are converted to unsigned ones. Other arguments that are no characters are unchanged.
#define CHARACTER(c) ((c) + 256 * (((c) < -1) & ((c) >= -128)))
#define LOWERED(c) ((c) + 32 * UPPER(c))
#define UPPERED(c) ((c) - 32 * LOWER(c))

int tolower(int c) { return LOWERED(CHARACTER(c)); }

int toupper(int c) { return UPPERED(CHARACTER(c)); }

int _tolower(int c) {
    proviso_check_character(c);
    return LOWERED(CHARACTER(c));
}

int _toupper(int c) {
    proviso_check_character(c);
    return UPPERED(CHARACTER(c));
}

// The tables that the header's macros read, with elements -128 to 255. EOF is -1.

#define BITS(c)                                                                                                      \
    (IS_UPPER(c) | IS_LOWER(c) | IS_ALPHA(c) | IS_DIGIT(c) | IS_XDIGIT(c) | IS_SPACE(c) | IS_PRINT(c) | IS_GRAPH(c) |  \
     IS_BLANK(c) | IS_CNTRL(c) | IS_PUNCT(c) | IS_ALNUM(c))
#define EIGHT(f, c) f(c), f(c + 1), f(c + 2), f(c + 3), f(c + 4), f(c + 5), f(c + 6), f(c + 7)
#define ROW(f, c) EIGHT(f, c), EIGHT(f, c + 8), EIGHT(f, c + 16), EIGHT(f, c + 24)
#define ASCII(f) ROW(f, 0), ROW(f, 32), ROW(f, 64), ROW(f, 96)
#define REST(f) ROW(f, 128), ROW(f, 160), ROW(f, 192), ROW(f, 224)

static const unsigned short proviso_bits[384] = {[128] = ASCII(BITS)};
static const int proviso_lowered[384] = {REST(LOWERED), ASCII(LOWERED), REST(LOWERED), [127] = -1};
static const int proviso_uppered[384] = {REST(UPPERED), ASCII(UPPERED), REST(UPPERED), [127] = -1};

const unsigned short **__ctype_b_loc(void) {
    static const unsigned short *proviso_table = proviso_bits + 128;
    return &proviso_table;
}

const int **__ctype_tolower_loc(void) {
    static const int *proviso_table = proviso_lowered + 128;
    return &proviso_table;
}

const int **__ctype_toupper_loc(void) {
    static const int *proviso_table = proviso_uppered + 128;
    return &proviso_table;
}

size_t __ctype_get_mb_cur_max(void) { return 1; }
