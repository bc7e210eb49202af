// Defines: btowc wctob mbsinit mbrtowc mbrlen wcrtomb mbtowc mblen wctomb mbstowcs wcstombs
// Defines: mbsrtowcs mbsnrtowcs wcsrtombs wcsnrtombs __mbstowcs_chk __wcstombs_chk __mbsrtowcs_chk __wcsrtombs_chk
#pragma once
#include "proviso.h"

// Multibyte characters in the locale "C": an ASCII character is one byte, and no other bytes are characters. There is no state.

#define WEOF ((wint_t)-1)

wint_t btowc(int c) { return c >= 0 && c < 0x80 ? (wint_t)c : WEOF; }

int wctob(wint_t c) { return c < 0x80 ? (int)c : EOF; }

// A count, then bytes.
int mbsinit(const int *state) { return !state || *state == 0; }

static size_t proviso_mbrtowc(wchar_t *result, const char *s, size_t n) {
    if (!s)
        return 0;
    if (n == 0)
        return -2;
    unsigned char c = *s;
    if (c >= 0x80) {
        SET_ERRNO(EILSEQ);
        return -1;
    }
    if (result)
        *result = c;
    return c != 0;
}

size_t mbrtowc(wchar_t *result, const char *s, size_t n, void *state) { return proviso_mbrtowc(result, s, n); }

size_t mbrlen(const char *s, size_t n, void *state) { return proviso_mbrtowc(NULL, s, n); }

static size_t proviso_wcrtomb(char *result, wchar_t c) {
    if (!result)
        return 1;
    if (c < 0 || c >= 0x80) {
        SET_ERRNO(EILSEQ);
        return -1;
    }
    *result = c;
    return 1;
}

size_t wcrtomb(char *result, wchar_t c, void *state) { return proviso_wcrtomb(result, c); }

// The library checks for a null pointer before it checks for a byte.
static int proviso_mbtowc(wchar_t *result, const char *s, size_t n) {
    size_t length = proviso_mbrtowc(result, s, s && !*s ? 1 : n);
    return length > 1 ? -1 : (int)length;
}

int mbtowc(wchar_t *result, const char *s, size_t n) { return proviso_mbtowc(result, s, n); }

int mblen(const char *s, size_t n) { return proviso_mbtowc(NULL, s, n); }

int wctomb(char *result, wchar_t c) { return result ? (int)proviso_wcrtomb(result, c) : 0; }

// Converts at most `most` characters. If the state is kept, `*s` becomes the position after the last one, or null at the end of the text.
static size_t proviso_mbstowcs(wchar_t *result, const char **s, size_t most, size_t n) {
    const char *from = *s;
    for (size_t i = 0; !result || i < n; i++) {
        wchar_t c;
        if (result)
            *s = from + i;
        if (i == most)
            return i;
        if (proviso_mbrtowc(&c, from + i, 1) > 1)
            return -1;
        if (result)
            result[i] = c;
        if (!c) {
            if (result)
                *s = NULL;
            return i;
        }
    }
    *s = from + n;
    return n;
}

size_t mbstowcs(wchar_t *result, const char *s, size_t n) { return proviso_mbstowcs(result, &s, SIZE_MAX, n); }

size_t mbsrtowcs(wchar_t *result, const char **s, size_t n, void *state) {
    return proviso_mbstowcs(result, s, SIZE_MAX, n);
}

size_t mbsnrtowcs(wchar_t *result, const char **s, size_t most, size_t n, void *state) {
    return proviso_mbstowcs(result, s, most, n);
}

static size_t proviso_wcstombs(char *result, const wchar_t **s, size_t most, size_t n) {
    const wchar_t *from = *s;
    for (size_t i = 0; !result || i < n; i++) {
        char c;
        if (result)
            *s = from + i;
        if (i == most)
            return i;
        if (proviso_wcrtomb(&c, from[i]) > 1)
            return -1;
        if (result)
            result[i] = c;
        if (!c) {
            if (result)
                *s = NULL;
            return i;
        }
    }
    *s = from + n;
    return n;
}

size_t wcstombs(char *result, const wchar_t *s, size_t n) { return proviso_wcstombs(result, &s, SIZE_MAX, n); }

size_t wcsrtombs(char *result, const wchar_t **s, size_t n, void *state) {
    return proviso_wcstombs(result, s, SIZE_MAX, n);
}

size_t wcsnrtombs(char *result, const wchar_t **s, size_t most, size_t n, void *state) {
    return proviso_wcstombs(result, s, most, n);
}

// The fortified functions. They take the size of the destination in characters and abort if it is exceeded.

static void proviso_check_multibyte(size_t n, size_t size) {
    if (n > size)
        __proviso_abort();
}

size_t __mbstowcs_chk(wchar_t *result, const char *s, size_t n, size_t size) {
    proviso_check_multibyte(n, size);
    return proviso_mbstowcs(result, &s, SIZE_MAX, n);
}

size_t __mbsrtowcs_chk(wchar_t *result, const char **s, size_t n, void *state, size_t size) {
    proviso_check_multibyte(n, size);
    return proviso_mbstowcs(result, s, SIZE_MAX, n);
}

size_t __wcstombs_chk(char *result, const wchar_t *s, size_t n, size_t size) {
    proviso_check_multibyte(n, size);
    return proviso_wcstombs(result, &s, SIZE_MAX, n);
}

size_t __wcsrtombs_chk(char *result, const wchar_t **s, size_t n, void *state, size_t size) {
    proviso_check_multibyte(n, size);
    return proviso_wcstombs(result, s, SIZE_MAX, n);
}
