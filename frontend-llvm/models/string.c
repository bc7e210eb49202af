// Defines: memcpy memmove mempcpy __mempcpy memset memcmp bcmp memchr memrchr rawmemchr __rawmemchr memccpy memmem
// Defines: bcopy bzero explicit_bzero swab
// Defines: strlen strnlen strcpy strncpy stpcpy __stpcpy stpncpy strcat strncat strlcpy strlcat
// Defines: strcmp strncmp strcoll strcasecmp strncasecmp strverscmp strxfrm
// Defines: strchr strrchr strchrnul index rindex strspn strcspn strpbrk strstr strcasestr
// Defines: strtok strtok_r __strtok_r strsep strdup __strdup strndup __strndup
// Defines: ffs ffsl ffsll
// Defines: __memcpy_chk __memmove_chk __mempcpy_chk __memset_chk __strcpy_chk __stpcpy_chk __strncpy_chk
// Defines: __stpncpy_chk __strcat_chk __strncat_chk
#pragma once
#include "proviso.h"

// Memory.

void *memcpy(void *dst, const void *src, size_t n) {
    __builtin_memcpy(dst, src, n);
    return dst;
}

void *memmove(void *dst, const void *src, size_t n) {
    __builtin_memmove(dst, src, n);
    return dst;
}

void *mempcpy(void *dst, const void *src, size_t n) {
    __builtin_memcpy(dst, src, n);
    return (char *)dst + n;
}

void *__mempcpy(void *dst, const void *src, size_t n) {
    __builtin_memcpy(dst, src, n);
    return (char *)dst + n;
}

void *memset(void *dst, int c, size_t n) {
    __builtin_memset(dst, c, n);
    return dst;
}

void bcopy(const void *src, void *dst, size_t n) { __builtin_memmove(dst, src, n); }

void bzero(void *dst, size_t n) { __builtin_memset(dst, 0, n); }

void explicit_bzero(void *dst, size_t n) { __builtin_memset(dst, 0, n); }

// The result of a comparison: in the C library the difference of the first bytes that differ. On 32-bit x86 it is
// sometimes the difference and sometimes its sign. The model computes it without a branch.
static int proviso_order(int difference) {
    if (sizeof(void *) == 8)
        return difference;
    int sign = -(int)__proviso_env_bool();
    return (((difference > 0) - (difference < 0)) & sign) | (difference & ~sign);
}

static int proviso_memcmp(const void *a, const void *b, size_t n) {
    const unsigned char *p = a, *q = b;
    for (size_t i = 0; i < n; i++) {
        if (p[i] != q[i])
            return p[i] - q[i];
    }
    return 0;
}

int memcmp(const void *a, const void *b, size_t n) {
    REQUIRE_READABLE(a, n);
    REQUIRE_READABLE(b, n);
    return proviso_order(proviso_memcmp(a, b, n));
}

int bcmp(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }

void *memchr(const void *s, int c, size_t n) {
    const unsigned char *p = s;
    for (size_t i = 0; i < n; i++) {
        if (p[i] == (unsigned char)c)
            return (void *)(p + i);
    }
    return NULL;
}

void *memrchr(const void *s, int c, size_t n) {
    const unsigned char *p = s;
    while (n > 0) {
        n--;
        if (p[n] == (unsigned char)c)
            return (void *)(p + n);
    }
    return NULL;
}

static void *proviso_rawmemchr(const void *s, int c) {
    const unsigned char *p = s;
    while (*p != (unsigned char)c)
        p++;
    return (void *)p;
}

void *rawmemchr(const void *s, int c) { return proviso_rawmemchr(s, c); }

void *__rawmemchr(const void *s, int c) { return proviso_rawmemchr(s, c); }

void *memccpy(void *dst, const void *src, int c, size_t n) {
    unsigned char *d = dst;
    const unsigned char *s = src;
    for (size_t i = 0; i < n; i++) {
        d[i] = s[i];
        if (d[i] == (unsigned char)c) {
            REQUIRE_DISJOINT(src, i + 1, dst, i + 1);
            return d + i + 1;
        }
    }
    REQUIRE_DISJOINT(src, n, dst, n);
    return NULL;
}

void *memmem(const void *haystack, size_t haystack_size, const void *needle, size_t needle_size) {
    const char *h = haystack;
    for (size_t i = 0; needle_size <= haystack_size && i <= haystack_size - needle_size; i++) {
        if (proviso_memcmp(h + i, needle, needle_size) == 0)
            return (void *)(h + i);
    }
    return NULL;
}

void swab(const void *src, void *dst, ssize_t n) {
    const char *s = src;
    char *d = dst;
    for (ssize_t i = 0; i + 1 < n; i += 2) {
        char first = s[i], second = s[i + 1];
        d[i] = second;
        d[i + 1] = first;
    }
    if (n > 1)
        REQUIRE_DISJOINT(src, n & -2, dst, n & -2);
}

// Copying and appending strings.

size_t strlen(const char *s) { return proviso_strlen(s); }

static size_t proviso_strnlen(const char *s, size_t max) {
    const char *end = s;
    for (size_t n = 0; n < max && *end; n++)
        end++;
    return end - s;
}

size_t strnlen(const char *s, size_t max) { return proviso_strnlen(s, max); }

// Returns the end of the copy. If the memory overlaps, the copied string may lose its end, and the copy leaves its object.
static char *proviso_stpcpy(char *dst, const char *src) {
    size_t i = 0;
    while ((dst[i] = src[i]))
        i++;
    REQUIRE_DISJOINT(src, i + 1, dst, i + 1);
    return dst + i;
}

char *strcpy(char *dst, const char *src) {
    proviso_stpcpy(dst, src);
    return dst;
}

char *stpcpy(char *dst, const char *src) { return proviso_stpcpy(dst, src); }

char *__stpcpy(char *dst, const char *src) { return proviso_stpcpy(dst, src); }

static char *proviso_stpncpy(char *dst, const char *src, size_t n) {
    size_t i = 0;
    while (i < n && src[i]) {
        dst[i] = src[i];
        i++;
    }
    REQUIRE_DISJOINT(src, i + (i < n), dst, n);
    for (size_t j = i; j < n; j++)
        dst[j] = 0;
    return dst + i;
}

char *strncpy(char *dst, const char *src, size_t n) {
    proviso_stpncpy(dst, src, n);
    return dst;
}

char *stpncpy(char *dst, const char *src, size_t n) { return proviso_stpncpy(dst, src, n); }

char *strcat(char *dst, const char *src) {
    proviso_stpcpy(dst + proviso_strlen(dst), src);
    return dst;
}

static void proviso_strncat(char *dst, const char *src, size_t n) {
    char *end = dst + proviso_strlen(dst);
    size_t i = 0;
    while (i < n && src[i]) {
        end[i] = src[i];
        i++;
    }
    REQUIRE_DISJOINT(src, i + (i < n), end, i + 1);
    end[i] = 0;
}

char *strncat(char *dst, const char *src, size_t n) {
    proviso_strncat(dst, src, n);
    return dst;
}

static size_t proviso_strlcpy(char *dst, const char *src, size_t size) {
    size_t length = proviso_strlen(src);
    if (size > 0) {
        size_t n = length < size ? length : size - 1;
        __builtin_memcpy(dst, src, n);
        dst[n] = 0;
    }
    return length;
}

size_t strlcpy(char *dst, const char *src, size_t size) { return proviso_strlcpy(dst, src, size); }

size_t strlcat(char *dst, const char *src, size_t size) {
    size_t used = proviso_strnlen(dst, size);
    return used + proviso_strlcpy(dst + used, src, size - used);
}

// Comparing strings.

static int proviso_strncmp(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++, a++, b++) {
        unsigned char c = *a, d = *b;
        if ((c != d) | (c == 0))
            return c - d;
    }
    return 0;
}

int strcmp(const char *a, const char *b) { return proviso_order(proviso_strncmp(a, b, SIZE_MAX)); }

int strncmp(const char *a, const char *b, size_t n) { return proviso_order(proviso_strncmp(a, b, n)); }

// The locale is "C".
int strcoll(const char *a, const char *b) { return proviso_order(proviso_strncmp(a, b, SIZE_MAX)); }

size_t strxfrm(char *dst, const char *src, size_t size) {
    size_t length = proviso_strlen(src);
    proviso_stpncpy(dst, src, length < size ? length + 1 : size);
    return length;
}

static _Bool proviso_is_digit(char c) { return (c >= '0') & (c <= '9'); }

static int proviso_lower(int c) { return c + 32 * (c >= 'A' && c <= 'Z'); }

static int proviso_strncasecmp(const char *a, const char *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        int c = proviso_lower((unsigned char)a[i]), d = proviso_lower((unsigned char)b[i]);
        if (c != d)
            return c - d;
        if (c == 0)
            return 0;
    }
    return 0;
}

int strcasecmp(const char *a, const char *b) { return proviso_order(proviso_strncasecmp(a, b, SIZE_MAX)); }

int strncasecmp(const char *a, const char *b, size_t n) { return proviso_order(proviso_strncasecmp(a, b, n)); }

// Digits in strings are numbers. Numbers with leading zeros are fractions: the one with more zeros is less.
// Numbers of equal length without leading zeros are ordered by their first difference.
int strverscmp(const char *a, const char *b) {
    size_t i = 0, number = 0;
    // Skips to the first difference. `number` is the start of the digits before it.
    for (; a[i] == b[i]; i++) {
        if (a[i] == 0)
            return 0;
        if (!proviso_is_digit(a[i]))
            number = i + 1;
    }
    int difference = (unsigned char)a[i] - (unsigned char)b[i];
    _Bool in_number = i > number, digit = proviso_is_digit(a[i]), other_digit = proviso_is_digit(b[i]);
    _Bool zeros = in_number, fraction = in_number && a[number] == '0';
    for (size_t n = number; n < i; n++)
        zeros &= a[n] == '0';
    if (fraction) {
        // After equal zeros, the fraction with more digits is less. Otherwise the next digit decides.
        if (zeros && digit != other_digit)
            return other_digit - digit;
        return difference;
    }
    if (!in_number && (a[i] == '0' || b[i] == '0'))
        return difference;
    if (!digit || !other_digit)
        return in_number && digit != other_digit ? digit - other_digit : difference;
    for (i++; proviso_is_digit(a[i]); i++) {
        if (!proviso_is_digit(b[i]))
            return 1;
    }
    return proviso_is_digit(b[i]) ? -1 : difference;
}

// Searching strings.

static char *proviso_strchrnul(const char *s, int c) {
    while (*s && *s != (char)c)
        s++;
    return (char *)s;
}

static char *proviso_strchr(const char *s, int c) {
    char *found = proviso_strchrnul(s, c);
    return *found == (char)c ? found : NULL;
}

static char *proviso_strrchr(const char *s, int c) {
    const char *found = NULL;
    for (;; s++) {
        if (*s == (char)c)
            found = s;
        if (!*s)
            return (char *)found;
    }
}

char *strchr(const char *s, int c) { return proviso_strchr(s, c); }

char *strrchr(const char *s, int c) { return proviso_strrchr(s, c); }

char *index(const char *s, int c) { return proviso_strchr(s, c); }

char *rindex(const char *s, int c) { return proviso_strrchr(s, c); }

char *strchrnul(const char *s, int c) { return proviso_strchrnul(s, c); }

// The end of the longest prefix of `s` whose bytes are all in `set` (or, if not `in`, not in `set`).
static char *proviso_span(const char *s, const char *set, _Bool in) {
    while (*s && (*proviso_strchrnul(set, *s) != 0) == in)
        s++;
    return (char *)s;
}

size_t strspn(const char *s, const char *accept) { return proviso_span(s, accept, 1) - s; }

size_t strcspn(const char *s, const char *reject) { return proviso_span(s, reject, 0) - s; }

char *strpbrk(const char *s, const char *accept) {
    char *found = proviso_span(s, accept, 0);
    return *found ? found : NULL;
}

char *strstr(const char *haystack, const char *needle) {
    size_t n = proviso_strlen(needle);
    for (;; haystack++) {
        if (proviso_strncmp(haystack, needle, n) == 0)
            return (char *)haystack;
        if (!*haystack)
            return NULL;
    }
}

char *strcasestr(const char *haystack, const char *needle) {
    size_t n = proviso_strlen(needle);
    for (;; haystack++) {
        if (proviso_strncasecmp(haystack, needle, n) == 0)
            return (char *)haystack;
        if (!*haystack)
            return NULL;
    }
}

static char *proviso_strtok(char *s, const char *separators, char **rest) {
    if (!s)
        s = *rest;
    s = proviso_span(s, separators, 1);
    if (!*s) {
        *rest = s;
        return NULL;
    }
    char *end = proviso_span(s, separators, 0);
    if (*end) {
        *end = 0;
        end++;
    }
    *rest = end;
    return s;
}

char *strtok(char *s, const char *separators) {
    static char *rest;
    return proviso_strtok(s, separators, &rest);
}

char *strtok_r(char *s, const char *separators, char **rest) { return proviso_strtok(s, separators, rest); }

char *__strtok_r(char *s, const char *separators, char **rest) { return proviso_strtok(s, separators, rest); }

char *strsep(char **rest, const char *separators) {
    char *s = *rest;
    if (!s)
        return NULL;
    char *end = proviso_span(s, separators, 0);
    if (*end) {
        *end = 0;
        *rest = end + 1;
    } else {
        *rest = NULL;
    }
    return s;
}

// Functions that allocate strings.

static char *proviso_duplicate(const char *s, size_t length) {
    char *copy = malloc(length + 1);
    if (copy) {
        __builtin_memcpy(copy, s, length);
        copy[length] = 0;
    }
    return copy;
}

char *strdup(const char *s) { return proviso_duplicate(s, proviso_strlen(s)); }

char *__strdup(const char *s) { return proviso_duplicate(s, proviso_strlen(s)); }

char *strndup(const char *s, size_t n) { return proviso_duplicate(s, proviso_strnlen(s, n)); }

char *__strndup(const char *s, size_t n) { return proviso_duplicate(s, proviso_strnlen(s, n)); }

// Bits.

static int proviso_ffs(unsigned long long x) { return x ? __builtin_ctzll(x) + 1 : 0; }

int ffs(int x) { return proviso_ffs((unsigned)x); }

int ffsl(long x) { return proviso_ffs((unsigned long)x); }

int ffsll(long long x) { return proviso_ffs(x); }

// The fortified functions. They take the size of the destination and abort if it is exceeded.

static void proviso_check(size_t needed, size_t size) {
    if (needed > size)
        __proviso_abort();
}

void *__memcpy_chk(void *dst, const void *src, size_t n, size_t size) {
    proviso_check(n, size);
    __builtin_memcpy(dst, src, n);
    return dst;
}

void *__memmove_chk(void *dst, const void *src, size_t n, size_t size) {
    proviso_check(n, size);
    __builtin_memmove(dst, src, n);
    return dst;
}

void *__mempcpy_chk(void *dst, const void *src, size_t n, size_t size) {
    proviso_check(n, size);
    __builtin_memcpy(dst, src, n);
    return (char *)dst + n;
}

void *__memset_chk(void *dst, int c, size_t n, size_t size) {
    proviso_check(n, size);
    __builtin_memset(dst, c, n);
    return dst;
}

char *__strcpy_chk(char *dst, const char *src, size_t size) {
    proviso_check(proviso_strlen(src) + 1, size);
    proviso_stpcpy(dst, src);
    return dst;
}

char *__stpcpy_chk(char *dst, const char *src, size_t size) {
    proviso_check(proviso_strlen(src) + 1, size);
    return proviso_stpcpy(dst, src);
}

char *__strncpy_chk(char *dst, const char *src, size_t n, size_t size) {
    proviso_check(n, size);
    proviso_stpncpy(dst, src, n);
    return dst;
}

char *__stpncpy_chk(char *dst, const char *src, size_t n, size_t size) {
    proviso_check(n, size);
    return proviso_stpncpy(dst, src, n);
}

char *__strcat_chk(char *dst, const char *src, size_t size) {
    proviso_check(proviso_strlen(dst) + proviso_strlen(src) + 1, size);
    proviso_stpcpy(dst + proviso_strlen(dst), src);
    return dst;
}

char *__strncat_chk(char *dst, const char *src, size_t n, size_t size) {
    proviso_check(proviso_strlen(dst) + proviso_strnlen(src, n) + 1, size);
    proviso_strncat(dst, src, n);
    return dst;
}
