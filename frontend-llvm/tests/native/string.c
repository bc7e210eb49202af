// string.h, strings.h.
#include "harness.h"
#include <ctype.h>
#include <strings.h>
#include <unistd.h>

extern void *__rawmemchr(const void *, int);
extern char *__strdup(const char *), *__strndup(const char *, size_t);
extern int __xpg_strerror_r(int, char *, size_t);

// Few letters, so that strings have common parts.
#define LETTERS ONE_OF("a", "ab", "abAB", "ab, ;", "aA\xff\x80 z[`{@", "\x01\x7f\x80\xff")

// A letter that probably occurs in the string, or any character.
static int letter(void) { return random_below(4) ? ONE_OF('a', 'b', ',', ' ', 'A', 0, 0xff) : (int)random_bits(); }

// A block of random letters without a null at its end.
static char *block(size_t size) {
    const char *letters = LETTERS;
    char *p = room(size);
    for (size_t i = 0; i < size; i++)
        p[i] = random_below(9) ? letters[random_below(strlen(letters))] : 0;
    say("%u bytes from \"%s\"", (unsigned)size, letters);
    return p;
}

// Two blocks with a common prefix.
static size_t alike(char **a, char **b) {
    size_t n = random_below(60);
    *a = block(n);
    *b = room(n);
    memcpy(*b, *a, n);
    if (n && random_below(4))
        (*b)[random_below(n)] = letter();
    return n;
}

// Two similar strings.
static void strings_alike(char **a, char **b) {
    *a = random_string(40, LETTERS);
    if (random_below(3) == 0) {
        *b = random_string(40, LETTERS);
        return;
    }
    *b = text_in_room(*a);
    size_t n = strlen(*a);
    if (n && random_below(2))
        (*b)[random_below(n)] = random_below(2) ? letter() : (*a)[0] ^ 0x20;
}

#define COPY(name)                                                                                                   \
    DRIVER(name) {                                                                                                   \
        size_t n = random_below(100);                                                                                \
        char *src = block(n), *dst = room(n + random_below(9));                                                      \
        see_pointer(LIB(name)(dst, src, n));                                                                         \
    }
COPY(memcpy)
COPY(mempcpy)
COPY(__mempcpy)
DRIVER(memmove) {
    size_t n = random_below(60), from = random_below(20), to = random_below(20);
    char *p = block(80);
    see_pointer(LIB(memmove)(p + to, p + from, n));
}
DRIVER(bcopy) {
    size_t n = random_below(60), from = random_below(20), to = random_below(20);
    char *p = block(80);
    LIB(bcopy)(p + from, p + to, n);
}
DRIVER(memset) {
    size_t n = random_below(100);
    see_pointer(LIB(memset)(room(n + random_below(9)), letter(), n));
}
DRIVER(bzero) {
    size_t n = random_below(100);
    LIB(bzero)(block(n), n);
}
DRIVER(explicit_bzero) {
    size_t n = random_below(100);
    LIB(explicit_bzero)(block(n), n);
}
// On 32-bit x86, the result of a comparison is a difference or its sign.
#define MAY_GIVE_SIGN                                                                                                \
    if (sizeof(void *) == 4)                                                                                         \
        asks_environment();
DRIVER(memcmp) {
    MAY_GIVE_SIGN
    char *a, *b;
    size_t n = alike(&a, &b);
    see(LIB(memcmp)(a, b, n));
}
DRIVER(bcmp) {
    MAY_GIVE_SIGN
    char *a, *b;
    size_t n = alike(&a, &b);
    see(LIB(bcmp)(a, b, n) != 0);
}
DRIVER(memchr) {
    size_t n = random_below(60);
    see_pointer(LIB(memchr)(block(n), letter(), n));
}
DRIVER(memrchr) {
    size_t n = random_below(60);
    see_pointer(LIB(memrchr)(block(n), letter(), n));
}
DRIVER(rawmemchr) {
    size_t n = 1 + random_below(60);
    char *p = block(n);
    int c = letter();
    p[random_below(n)] = c;
    see_pointer(LIB(rawmemchr)(p, c));
    see_pointer(LIB(__rawmemchr)(p, c));
}
DRIVER(memccpy) {
    size_t n = random_below(60);
    char *src = block(n), *dst = room(n);
    see_pointer(LIB(memccpy)(dst, src, letter(), n));
}
DRIVER(memmem) {
    size_t n = random_below(60), m = random_below(5);
    char *haystack = block(n), *needle = block(m);
    see_pointer(LIB(memmem)(haystack, n, needle, m));
}
DRIVER(swab) {
    size_t n = random_below(60);
    char *src = block(n), *dst = room(n);
    LIB(swab)(src, dst, random_below(20) ? (ssize_t)n : -3);
}

DRIVER(strlen) { see(LIB(strlen)(random_string(60, LETTERS))); }
DRIVER(strnlen) {
    size_t n = random_below(60);
    see(LIB(strnlen)(random_below(2) ? block(n) : random_string(60, LETTERS), n));
}
#define COPY_STRING(name)                                                                                            \
    DRIVER(name) {                                                                                                   \
        char *src = random_string(60, LETTERS), *dst = room(strlen(src) + 1 + random_below(9));                      \
        see_pointer(LIB(name)(dst, src));                                                                            \
    }
COPY_STRING(strcpy)
COPY_STRING(stpcpy)
COPY_STRING(__stpcpy)
#define COPY_PART(name)                                                                                              \
    DRIVER(name) {                                                                                                   \
        size_t n = random_below(60);                                                                                 \
        char *src = random_below(4) ? random_string(60, LETTERS) : memset(room(n), 'x', n), *dst = room(n);          \
        see_pointer(LIB(name)(dst, src, n));                                                                         \
    }
COPY_PART(strncpy)
COPY_PART(stpncpy)
DRIVER(strcat) {
    char *dst = random_string_in(100, 40, LETTERS), *src = random_string(50, LETTERS);
    see_pointer(LIB(strcat)(dst, src));
}
DRIVER(strncat) {
    size_t n = random_below(40);
    char *dst = random_string_in(100, 40, LETTERS);
    see_pointer(LIB(strncat)(dst, random_below(4) ? random_string(50, LETTERS) : memset(room(n), 'x', n), n));
}

#define COMPARE_STRINGS(name)                                                                                        \
    DRIVER(name) {                                                                                                   \
        MAY_GIVE_SIGN                                                                                                \
        char *a, *b;                                                                                                 \
        strings_alike(&a, &b);                                                                                       \
        see(LIB(name)(a, b));                                                                                        \
    }
COMPARE_STRINGS(strcmp)
COMPARE_STRINGS(strcoll)
COMPARE_STRINGS(strcasecmp)
#define COMPARE_PARTS(name)                                                                                          \
    DRIVER(name) {                                                                                                   \
        MAY_GIVE_SIGN                                                                                                \
        char *a, *b;                                                                                                 \
        size_t n;                                                                                                    \
        if (random_below(2)) {                                                                                       \
            n = alike(&a, &b);                                                                                       \
        } else {                                                                                                     \
            strings_alike(&a, &b);                                                                                   \
            n = random_below(50);                                                                                    \
        }                                                                                                            \
        see(LIB(name)(a, b, n));                                                                                     \
    }
COMPARE_PARTS(strncmp)
COMPARE_PARTS(strncasecmp)
DRIVER(strxfrm) {
    char *src = random_string(40, LETTERS);
    size_t n = random_below(50);
    see(LIB(strxfrm)(room(n), src, n));
}
static char *numbered(void) {
    static const char *const parts[] = {"a", "0", "00", "1", "9", "10", "09", "010", ".", "b", "000", "2"};
    char text[40] = "";
    for (unsigned n = random_below(5); n > 0; n--)
        strcat(text, parts[random_below(12)]);
    return text_in_room(text);
}
DRIVER(strverscmp) {
    char *a = numbered(), *b = random_below(4) ? numbered() : text_in_room(a);
    see(LIB(strverscmp)(a, b));
}

#define FIND_LETTER(name)                                                                                            \
    DRIVER(name) { see_pointer(LIB(name)(random_string(60, LETTERS), letter())); }
FIND_LETTER(strchr)
FIND_LETTER(strrchr)
FIND_LETTER(strchrnul)
FIND_LETTER(index)
FIND_LETTER(rindex)
DRIVER(strspn) { see(LIB(strspn)(random_string(60, LETTERS), random_string(5, LETTERS))); }
DRIVER(strcspn) { see(LIB(strcspn)(random_string(60, LETTERS), random_string(5, LETTERS))); }
DRIVER(strpbrk) { see_pointer(LIB(strpbrk)(random_string(60, LETTERS), random_string(5, LETTERS))); }
DRIVER(strstr) { see_pointer(LIB(strstr)(random_string(60, LETTERS), random_string(4, LETTERS))); }
DRIVER(strcasestr) { see_pointer(LIB(strcasestr)(random_string(60, LETTERS), random_string(4, LETTERS))); }

DRIVER(strtok) {
    char *s = random_string(60, "ab, ;");
    for (int i = 0; i < 8; i++) {
        char *token = LIB(strtok)(i && random_below(20) ? NULL : s, ONE_OF(", ", ",;", ";", "", " ,;"));
        see_pointer(token);
        if (!token && random_below(2))
            return;
    }
}
#define TOKENS(name)                                                                                                 \
    DRIVER(name) {                                                                                                   \
        char *s = random_string(60, "ab, ;"), **rest = room(sizeof *rest);                                           \
        for (int i = 0; i < 6; i++) {                                                                                \
            see_pointer(LIB(name)(i ? NULL : s, ONE_OF(", ", ",;", ";", ""), rest));                                 \
            char *left;                                                                                              \
            memcpy(&left, rest, sizeof left);                                                                        \
            see_pointer(left);                                                                                       \
        }                                                                                                            \
        memset(rest, 0, sizeof *rest);                                                                               \
    }
TOKENS(strtok_r)
TOKENS(__strtok_r)
DRIVER(strsep) {
    char *s = random_below(20) ? random_string(60, "ab, ;") : NULL;
    for (int i = 0; i < 6; i++) {
        see_pointer(LIB(strsep)(&s, ONE_OF(", ", ",;", ";", "")));
        see_pointer(s);
    }
}

#define DUPLICATE(name, ...)                                                                                         \
    DRIVER(name) {                                                                                                   \
        char *copy = LIB(name)(random_string(60, LETTERS), ##__VA_ARGS__);                                           \
        see_text(copy);                                                                                              \
        release(copy);                                                                                               \
    }
DUPLICATE(strdup)
DUPLICATE(__strdup)
DUPLICATE(strndup, random_below(60))
DUPLICATE(__strndup, random_below(60))

static int error_number(void) { return random_below(8) ? (int)random_below(140) - 2 : (int)random_bits(); }
DRIVER(strerror) { see_text(LIB(strerror)(error_number())); }
DRIVER(strerror_r) {
    size_t size = random_below(40);
    char *buffer = room(size), *text = LIB(strerror_r)(error_number(), buffer, size);
    see_pointer(text);
    if (size)
        see_text(text);
}
DRIVER(__xpg_strerror_r) {
    size_t size = random_below(40);
    see(LIB(__xpg_strerror_r)(error_number(), room(size), size));
}
DRIVER(strsignal) { see_text(LIB(strsignal)(random_below(8) ? (int)random_below(70) - 2 : (int)random_bits())); }

DRIVER(ffs) { see(LIB(ffs)(random_integer())); }
DRIVER(ffsl) { see(LIB(ffsl)(random_integer())); }
DRIVER(ffsll) { see(LIB(ffsll)(random_integer())); }

// Functions that fortified programs call. The destination is sometimes too small.
static size_t too_little(size_t needed) { return random_below(4) ? needed + random_below(9) : random_below(needed + 1); }
extern void *__memcpy_chk(void *, const void *, size_t, size_t), *__memmove_chk(void *, const void *, size_t, size_t),
    *__mempcpy_chk(void *, const void *, size_t, size_t), *__memset_chk(void *, int, size_t, size_t);
extern char *__strcpy_chk(char *, const char *, size_t), *__stpcpy_chk(char *, const char *, size_t),
    *__strncpy_chk(char *, const char *, size_t, size_t), *__stpncpy_chk(char *, const char *, size_t, size_t),
    *__strcat_chk(char *, const char *, size_t), *__strncat_chk(char *, const char *, size_t, size_t);
#define COPY_CHECKED(name)                                                                                           \
    DRIVER(name) {                                                                                                   \
        size_t n = random_below(40), size = too_little(n);                                                           \
        char *src = block(n), *dst = room(size);                                                                     \
        see_pointer(LIB(name)(dst, src, n, size));                                                                   \
    }
COPY_CHECKED(__memcpy_chk)
COPY_CHECKED(__memmove_chk)
COPY_CHECKED(__mempcpy_chk)
DRIVER(__memset_chk) {
    size_t n = random_below(40), size = too_little(n);
    see_pointer(LIB(__memset_chk)(room(size), letter(), n, size));
}
#define COPY_STRING_CHECKED(name)                                                                                    \
    DRIVER(name) {                                                                                                   \
        char *src = random_string(40, LETTERS);                                                                      \
        size_t size = too_little(strlen(src) + 1);                                                                   \
        see_pointer(LIB(name)(room(size), src, size));                                                               \
    }
COPY_STRING_CHECKED(__strcpy_chk)
COPY_STRING_CHECKED(__stpcpy_chk)
#define COPY_PART_CHECKED(name)                                                                                      \
    DRIVER(name) {                                                                                                   \
        char *src = random_string(40, LETTERS);                                                                      \
        size_t n = random_below(40), size = too_little(n);                                                           \
        see_pointer(LIB(name)(room(size), src, n, size));                                                            \
    }
COPY_PART_CHECKED(__strncpy_chk)
COPY_PART_CHECKED(__stpncpy_chk)
// If the destination is too small, the bytes that the library writes before it detects this are arbitrary.
DRIVER(__strcat_chk) {
    char *dst = random_string_in(100, 30, LETTERS), *src = random_string(30, LETTERS);
    see_pointer(LIB(__strcat_chk)(dst, src, strlen(dst) + strlen(src) + 1 + random_below(9)));
}
DRIVER(__strncat_chk) {
    char *dst = random_string_in(100, 30, LETTERS), *src = random_string(30, LETTERS);
    size_t n = random_below(40);
    see_pointer(LIB(__strncat_chk)(dst, src, n, strlen(dst) + strnlen(src, n) + 1 + random_below(9)));
}

#ifndef INTERPRETED
// This C library lacks these functions, so the models are compared with their manual.
extern size_t model_strlcpy(char *, const char *, size_t), model_strlcat(char *, const char *, size_t);
static size_t manual_strlcpy(char *dst, const char *src, size_t size) {
    if (size)
        snprintf(dst, size, "%s", src);
    return strlen(src);
}
static size_t manual_strlcat(char *dst, const char *src, size_t size) {
    size_t used = strnlen(dst, size);
    return used + manual_strlcpy(dst + used, src, size - used);
}
DRIVER(strlcpy) {
    size_t size = random_below(40);
    char *src = random_string(40, LETTERS), *dst = room(size);
    see((modelled ? model_strlcpy : manual_strlcpy)(dst, src, size));
}
DRIVER(strlcat) {
    size_t size = random_below(40);
    char *src = random_string(40, LETTERS), *dst = random_string_in(50, 49, LETTERS);
    see((modelled ? model_strlcat : manual_strlcat)(dst, src, size));
}
#endif
