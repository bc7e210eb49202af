// Defines: btowc wctob mbsinit mbrtowc mbrlen wcrtomb mbtowc mblen wctomb mbstowcs wcstombs
#pragma once
#include "proviso.h"

// Multibyte characters in the locale "C": a character of ASCII is a byte, nothing else is one. No state changes.

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

// The library looks for a null before it looks whether there is a byte.
static int proviso_mbtowc(wchar_t *result, const char *s, size_t n) {
    size_t length = proviso_mbrtowc(result, s, s && !*s ? 1 : n);
    return length > 1 ? -1 : (int)length;
}

int mbtowc(wchar_t *result, const char *s, size_t n) { return proviso_mbtowc(result, s, n); }

int mblen(const char *s, size_t n) { return proviso_mbtowc(NULL, s, n); }

int wctomb(char *result, wchar_t c) { return result ? (int)proviso_wcrtomb(result, c) : 0; }

size_t mbstowcs(wchar_t *result, const char *s, size_t n) {
    for (size_t i = 0; !result || i < n; i++) {
        wchar_t c;
        if (proviso_mbrtowc(&c, s + i, 1) > 1)
            return -1;
        if (result)
            result[i] = c;
        if (!c)
            return i;
    }
    return n;
}

size_t wcstombs(char *result, const wchar_t *s, size_t n) {
    for (size_t i = 0; !result || i < n; i++) {
        char c;
        if (proviso_wcrtomb(&c, s[i]) > 1)
            return -1;
        if (result)
            result[i] = c;
        if (!c)
            return i;
    }
    return n;
}
