// Defines: wmemcpy wmempcpy wmemmove wmemset wmemcmp wmemchr
// Defines: wcslen wcsnlen wcscpy wcpcpy wcsncpy wcpncpy wcscat wcsncat wcsdup
// Defines: wcscmp wcsncmp wcscoll wcscasecmp wcsncasecmp wcsxfrm wcschr wcsrchr wcschrnul wcsspn wcscspn wcspbrk wcsstr wcstok
#pragma once
#include "proviso.h"

// wchar.h: memory and strings of wide characters.

// Memory.

wchar_t *wmemcpy(wchar_t *dst, const wchar_t *src, size_t n) {
    __builtin_memcpy(dst, src, n * sizeof(wchar_t));
    return dst;
}

wchar_t *wmempcpy(wchar_t *dst, const wchar_t *src, size_t n) {
    __builtin_memcpy(dst, src, n * sizeof(wchar_t));
    return dst + n;
}

wchar_t *wmemmove(wchar_t *dst, const wchar_t *src, size_t n) {
    __builtin_memmove(dst, src, n * sizeof(wchar_t));
    return dst;
}

wchar_t *wmemset(wchar_t *dst, wchar_t c, size_t n) {
    for (size_t i = 0; i < n; i++)
        dst[i] = c;
    return dst;
}

// The result of a comparison has the sign of the difference. In the C library it is 1 or -1, and other numbers at the end of a page.
static int proviso_wide_order(wchar_t a, wchar_t b) {
    static wchar_t last_a, last_b;
    static int last;
    int value = __proviso_env_int();
    __proviso_assume(((value > 0) == (a > b)) & ((value < 0) == (a < b)));
    if (a == last_a && b == last_b && value != last)
        __proviso_overapproximated("two comparisons of the same characters may have different results");
    last_a = a;
    last_b = b;
    last = value;
    return value;
}

int wmemcmp(const wchar_t *a, const wchar_t *b, size_t n) {
    REQUIRE_READABLE((const char *)a, n * sizeof(wchar_t));
    REQUIRE_READABLE((const char *)b, n * sizeof(wchar_t));
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i])
            return proviso_wide_order(a[i], b[i]);
    }
    return 0;
}

wchar_t *wmemchr(const wchar_t *s, wchar_t c, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (s[i] == c)
            return (wchar_t *)(s + i);
    }
    return NULL;
}

// Copying and appending strings.

static size_t proviso_wcslen(const wchar_t *s) {
    const wchar_t *end = s;
    while (*end)
        end++;
    return end - s;
}

size_t wcslen(const wchar_t *s) { return proviso_wcslen(s); }

size_t wcsnlen(const wchar_t *s, size_t max) {
    size_t n = 0;
    while (n < max && s[n])
        n++;
    return n;
}

// Returns the end of the copy.
static wchar_t *proviso_wcpcpy(wchar_t *dst, const wchar_t *src) {
    wchar_t *start = dst;
    const wchar_t *from = src;
    while ((*dst = *src)) {
        dst++;
        src++;
    }
    REQUIRE_DISJOINT((const char *)from, (src - from + 1) * sizeof(wchar_t), (char *)start,
                     (dst - start + 1) * sizeof(wchar_t));
    (void)start, (void)from;
    return dst;
}

wchar_t *wcscpy(wchar_t *dst, const wchar_t *src) {
    proviso_wcpcpy(dst, src);
    return dst;
}

wchar_t *wcpcpy(wchar_t *dst, const wchar_t *src) { return proviso_wcpcpy(dst, src); }

static wchar_t *proviso_wcpncpy(wchar_t *dst, const wchar_t *src, size_t n) {
    size_t i = 0;
    while (i < n && src[i]) {
        dst[i] = src[i];
        i++;
    }
    REQUIRE_DISJOINT((const char *)src, (i + (i < n)) * sizeof(wchar_t), (char *)dst, n * sizeof(wchar_t));
    for (size_t j = i; j < n; j++)
        dst[j] = 0;
    return dst + i;
}

wchar_t *wcsncpy(wchar_t *dst, const wchar_t *src, size_t n) {
    proviso_wcpncpy(dst, src, n);
    return dst;
}

wchar_t *wcpncpy(wchar_t *dst, const wchar_t *src, size_t n) { return proviso_wcpncpy(dst, src, n); }

wchar_t *wcscat(wchar_t *dst, const wchar_t *src) {
    proviso_wcpcpy(dst + proviso_wcslen(dst), src);
    return dst;
}

wchar_t *wcsncat(wchar_t *dst, const wchar_t *src, size_t n) {
    wchar_t *end = dst + proviso_wcslen(dst);
    size_t i = 0;
    while (i < n && src[i]) {
        end[i] = src[i];
        i++;
    }
    REQUIRE_DISJOINT((const char *)src, (i + (i < n)) * sizeof(wchar_t), (char *)end, (i + 1) * sizeof(wchar_t));
    end[i] = 0;
    return dst;
}

wchar_t *wcsdup(const wchar_t *s) {
    size_t size = (proviso_wcslen(s) + 1) * sizeof(wchar_t);
    wchar_t *copy = malloc(size);
    if (copy)
        __builtin_memcpy(copy, s, size);
    return copy;
}

// Comparing strings.

static int proviso_wcsncmp(const wchar_t *a, const wchar_t *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i])
            return proviso_wide_order(a[i], b[i]);
        if (a[i] == 0)
            return 0;
    }
    return 0;
}

int wcscmp(const wchar_t *a, const wchar_t *b) { return proviso_wcsncmp(a, b, SIZE_MAX); }

int wcsncmp(const wchar_t *a, const wchar_t *b, size_t n) { return proviso_wcsncmp(a, b, n); }

// The locale is "C".
int wcscoll(const wchar_t *a, const wchar_t *b) { return proviso_wcsncmp(a, b, SIZE_MAX); }

static int proviso_wcsncasecmp(const wchar_t *a, const wchar_t *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        wint_t c = a[i], d = b[i];
        c += 32 * ((c >= 'A') & (c <= 'Z'));
        d += 32 * ((d >= 'A') & (d <= 'Z'));
        if (c != d)
            return c - d;
        if (c == 0)
            return 0;
    }
    return 0;
}

int wcscasecmp(const wchar_t *a, const wchar_t *b) { return proviso_wcsncasecmp(a, b, SIZE_MAX); }

int wcsncasecmp(const wchar_t *a, const wchar_t *b, size_t n) { return proviso_wcsncasecmp(a, b, n); }

size_t wcsxfrm(wchar_t *dst, const wchar_t *src, size_t size) {
    size_t length = proviso_wcslen(src);
    if (size)
        proviso_wcpncpy(dst, src, length < size ? length + 1 : size);
    return length;
}

// Searching strings.

static wchar_t *proviso_wcschrnul(const wchar_t *s, wchar_t c) {
    while (*s && *s != c)
        s++;
    return (wchar_t *)s;
}

wchar_t *wcschrnul(const wchar_t *s, wchar_t c) { return proviso_wcschrnul(s, c); }

wchar_t *wcschr(const wchar_t *s, wchar_t c) {
    wchar_t *found = proviso_wcschrnul(s, c);
    return *found == c ? found : NULL;
}

wchar_t *wcsrchr(const wchar_t *s, wchar_t c) {
    const wchar_t *found = NULL;
    for (;; s++) {
        if (*s == c)
            found = s;
        if (!*s)
            return (wchar_t *)found;
    }
}

// The length of the longest prefix of `s` whose characters are all in `set` (or, if not `in`, not in `set`).
static size_t proviso_wide_span(const wchar_t *s, const wchar_t *set, _Bool in) {
    const wchar_t *end = s;
    while (*end && (*proviso_wcschrnul(set, *end) != 0) == in)
        end++;
    return end - s;
}

size_t wcsspn(const wchar_t *s, const wchar_t *accept) { return proviso_wide_span(s, accept, 1); }

size_t wcscspn(const wchar_t *s, const wchar_t *reject) { return proviso_wide_span(s, reject, 0); }

wchar_t *wcspbrk(const wchar_t *s, const wchar_t *accept) {
    s += proviso_wide_span(s, accept, 0);
    return *s ? (wchar_t *)s : NULL;
}

wchar_t *wcsstr(const wchar_t *haystack, const wchar_t *needle) {
    for (;; haystack++) {
        size_t i = 0;
        while (needle[i] && haystack[i] == needle[i])
            i++;
        if (!needle[i])
            return (wchar_t *)haystack;
        if (!*haystack)
            return NULL;
    }
}

wchar_t *wcstok(wchar_t *s, const wchar_t *separators, wchar_t **rest) {
    if (!s)
        s = *rest;
    if (!s) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    s += proviso_wide_span(s, separators, 1);
    if (!*s) {
        *rest = NULL;
        return NULL;
    }
    wchar_t *end = s + proviso_wide_span(s, separators, 0);
    if (*end) {
        *end = 0;
        *rest = end + 1;
    } else {
        *rest = NULL;
    }
    return s;
}
