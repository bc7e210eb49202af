#define _GNU_SOURCE
#include "harness.h"
#include <ctype.h>
#include <strings.h>
#include <unistd.h>

// A model and its original, called with the same arguments on copies of the same memory; the results, pointers as
// offsets, and the memory must agree.

enum { SIZE = 64 };
static char real_memory[3][SIZE], model_memory[3][SIZE];

// A terminated string over few characters, so that strings have much in common.
static void random_string(char *s, unsigned max, const char *alphabet) {
    unsigned n = random_below(max + 1), letters = strlen(alphabet);
    for (unsigned i = 0; i < n; i++)
        s[i] = alphabet[random_below(letters)];
    s[n] = 0;
}

static void fresh_memory(void) {
    static const char *const alphabets[] = {"a", "ab", "abAB", "ab, ;", "aA\xff\x80 z"};
    const char *alphabet = alphabets[random_below(5)];
    for (int i = 0; i < 3; i++) {
        memset(real_memory[i], '#', SIZE);
        real_memory[i][SIZE - 1] = 0;
        // The third is small: needles and sets.
        random_string(real_memory[i], i == 2 ? 4 : 20, alphabet);
    }
    memcpy(model_memory, real_memory, sizeof real_memory);
}

static intptr_t offset(void *p, char (*memory)[SIZE]) { return p ? (char *)p - memory[0] : -1; }

static int sign(int x) { return (x > 0) - (x < 0); }

static void same_memory(const char *name) {
    EXPECT(memcmp(real_memory, model_memory, sizeof real_memory) == 0, "%s: memory differs: \"%s\", \"%s\", \"%s\"", name,
           real_memory[0], real_memory[1], real_memory[2]);
}

#define CALL_POINTER(function, ...)                                                                                  \
    {                                                                                                                \
        extern void *model_##function();                                                                             \
        fresh_memory();                                                                                              \
        char(*m)[SIZE] = real_memory;                                                                                \
        intptr_t real = offset(function(__VA_ARGS__), m);                                                            \
        m = model_memory;                                                                                            \
        intptr_t model = offset(model_##function(__VA_ARGS__), m);                                                   \
        EXPECT(real == model, #function "(\"%s\", \"%s\", \"%s\"): %ld, model %ld", m[0], m[1], m[2], real, model);   \
        same_memory(#function);                                                                                      \
    }

#define CALL_NUMBER(type, compare, function, ...)                                                                    \
    {                                                                                                                \
        extern type model_##function();                                                                              \
        fresh_memory();                                                                                              \
        char(*m)[SIZE] = real_memory;                                                                                \
        long real = compare(function(__VA_ARGS__));                                                                  \
        m = model_memory;                                                                                            \
        long model = compare(model_##function(__VA_ARGS__));                                                         \
        EXPECT(real == model, #function "(\"%s\", \"%s\", \"%s\"): %ld, model %ld", m[0], m[1], m[2], real, model);   \
        same_memory(#function);                                                                                      \
    }

#define CALL_NOTHING(function, ...)                                                                                  \
    {                                                                                                                \
        extern void model_##function();                                                                              \
        fresh_memory();                                                                                              \
        char(*m)[SIZE] = real_memory;                                                                                \
        function(__VA_ARGS__);                                                                                       \
        m = model_memory;                                                                                            \
        model_##function(__VA_ARGS__);                                                                               \
        same_memory(#function);                                                                                      \
    }

static void memory(void) {
    size_t n = random_below(SIZE), k = random_below(8);
    int c = random_below(2) ? 'a' + (int)random_below(2) : (int)random_bits();
    CALL_POINTER(memcpy, m[0], m[1], n)
    CALL_POINTER(memmove, m[0] + k, m[0], n)
    CALL_POINTER(memmove, m[0], m[0] + k, n)
    CALL_POINTER(mempcpy, m[0], m[1], n)
    CALL_POINTER(memset, m[0], c, n)
    CALL_POINTER(memchr, m[0], c, n)
    CALL_POINTER(memrchr, m[0], c, n)
    CALL_POINTER(memccpy, m[0], m[1], c, n)
    CALL_POINTER(rawmemchr, m[0], 0)
    _Bool whole = random_below(2);
    CALL_POINTER(memmem, m[0], n, m[2], whole ? strlen(m[2]) : k)
    CALL_NUMBER(int, sign, memcmp, m[0], m[1], n)
    CALL_NOTHING(bzero, m[0], n)
    CALL_NOTHING(bcopy, m[0], m[0] + k, n)
    ssize_t even = n;
    CALL_NOTHING(swab, m[1], m[0], even)
}

static void strings(void) {
    size_t n = random_below(25);
    int c = random_below(4) ? "ab, A"[random_below(5)] : (int)random_below(256);
    CALL_NUMBER(size_t, , strlen, m[0])
    CALL_NUMBER(size_t, , strnlen, m[0], n)
    CALL_POINTER(strcpy, m[0], m[1])
    CALL_POINTER(stpcpy, m[0], m[1])
    CALL_POINTER(strncpy, m[0], m[1], n)
    CALL_POINTER(stpncpy, m[0], m[1], n)
    CALL_POINTER(strcat, m[0], m[1])
    CALL_POINTER(strncat, m[0], m[1], n)
    CALL_NUMBER(int, , strcmp, m[0], m[1])
    CALL_NUMBER(int, , strncmp, m[0], m[1], n)
    CALL_NUMBER(int, sign, strcoll, m[0], m[1])
    CALL_NUMBER(int, , strcasecmp, m[0], m[1])
    CALL_NUMBER(int, , strncasecmp, m[0], m[1], n)
    CALL_NUMBER(size_t, , strxfrm, m[0], m[1], strlen(m[1]) + 1)
    CALL_POINTER(strchr, m[0], c)
    CALL_POINTER(strrchr, m[0], c)
    CALL_POINTER(strchrnul, m[0], c)
    CALL_POINTER(index, m[0], c)
    CALL_POINTER(rindex, m[0], c)
    CALL_NUMBER(size_t, , strspn, m[0], m[2])
    CALL_NUMBER(size_t, , strcspn, m[0], m[2])
    CALL_POINTER(strpbrk, m[0], m[2])
    CALL_POINTER(strstr, m[0], m[2])
    CALL_POINTER(strcasestr, m[0], m[2])
    long bits = random_below(8) ? random_bits() << random_below(64) : 0;
    CALL_NUMBER(int, , ffs, (int)bits)
    CALL_NUMBER(int, , ffsl, bits)
    CALL_NUMBER(int, , ffsll, bits)
}

static void tokens(void) {
    extern char *model_strtok(char *, const char *), *model_strsep(char **, const char *);
    fresh_memory();
    char *real = real_memory[0], *model = model_memory[0];
    for (int i = 0; i < 6; i++) {
        const char *set = random_below(2) ? real_memory[2] : ", ";
        char *a = strtok(real, set), *b = model_strtok(model, set);
        EXPECT(offset(a, real_memory) == offset(b, model_memory), "strtok");
        same_memory("strtok");
        real = model = NULL;
        if (!a)
            break;
    }
    fresh_memory();
    real = real_memory[0], model = model_memory[0];
    for (int i = 0; i < 6; i++) {
        char *a = strsep(&real, ", "), *b = model_strsep(&model, ", ");
        EXPECT(offset(a, real_memory) == offset(b, model_memory), "strsep");
        EXPECT(offset(real, real_memory) == offset(model, model_memory), "strsep's rest");
        same_memory("strsep");
    }
}

static void duplicates(void) {
    extern char *model_strdup(const char *), *model_strndup(const char *, size_t);
    fresh_memory();
    size_t n = random_below(25);
    char *a = strdup(real_memory[0]), *b = model_strdup(real_memory[0]);
    EXPECT(strcmp(a, b) == 0, "strdup");
    char *c = strndup(real_memory[0], n), *d = model_strndup(real_memory[0], n);
    EXPECT(strcmp(c, d) == 0, "strndup");
    free(a), free(b), free(c), free(d);
}

// Not in this C library: by their manual.
static void bounded(void) {
    extern size_t model_strlcpy(char *, const char *, size_t), model_strlcat(char *, const char *, size_t);
    fresh_memory();
    size_t n = random_below(25), length = strlen(real_memory[1]);
    EXPECT(model_strlcpy(model_memory[0], model_memory[1], n) == length, "strlcpy");
    if (n > 0)
        snprintf(real_memory[0], n, "%s", real_memory[1]);
    same_memory("strlcpy");
    fresh_memory();
    length = strlen(real_memory[0]);
    size_t copied = strlen(real_memory[1]);
    size_t result = model_strlcat(model_memory[0], model_memory[1], n);
    EXPECT(result == (length < n ? length : n) + copied, "strlcat");
    if (length < n)
        snprintf(real_memory[0] + length, n - length, "%s", real_memory[1]);
    same_memory("strlcat");
}

static void characters(void) {
    extern const unsigned short **model___ctype_b_loc(void);
    extern const int **model___ctype_tolower_loc(void), **model___ctype_toupper_loc(void);
    for (int c = -128; c < 256; c++) {
#define CLASS(function)                                                                                              \
    {                                                                                                                \
        extern int model_##function(int);                                                                            \
        EXPECT((function)(c) == model_##function(c), #function "(%d): %d, model %d", c, (function)(c),               \
               model_##function(c));                                                                                 \
    }
        CLASS(isupper)
        CLASS(islower)
        CLASS(isalpha)
        CLASS(isdigit)
        CLASS(isxdigit)
        CLASS(isspace)
        CLASS(isprint)
        CLASS(isgraph)
        CLASS(isblank)
        CLASS(iscntrl)
        CLASS(ispunct)
        CLASS(isalnum)
        CLASS(isascii)
        CLASS(toascii)
        if (c >= -1) {
            CLASS(tolower)
            CLASS(toupper)
        }
        EXPECT((*__ctype_b_loc())[c] == (*model___ctype_b_loc())[c], "__ctype_b_loc %d", c);
        EXPECT((*__ctype_tolower_loc())[c] == (*model___ctype_tolower_loc())[c], "__ctype_tolower_loc %d", c);
        EXPECT((*__ctype_toupper_loc())[c] == (*model___ctype_toupper_loc())[c], "__ctype_toupper_loc %d", c);
    }
}

void test(void) {
    characters();
    for (int i = 0; i < 20000; i++) {
        memory();
        strings();
        tokens();
        duplicates();
        bounded();
    }
}
