/* Allocation, sorting, searching, division, output to streams, handlers that run at the end. */
#include "report.h"
#include <inttypes.h>
#include <string.h>
#include <strings.h>

int asprintf(char **, const char *, ...), ffsl(long), ffsll(long long);
void *reallocarray(void *, size_t, size_t), *lfind(const void *, const void *, size_t *, size_t, int (*)(const void *, const void *));
int posix_memalign(void **, size_t, size_t);

static unsigned hash = 1, state = 99;
static unsigned any(void) { return state = state * 1664525u + 1013904223u, state >> 8; }
static void number(long long x) { hash = fold(hash, x); }

struct item { short key; char place; };
static int compare(const void *a, const void *b) { return ((const struct item *)a)->key - ((const struct item *)b)->key; }
static int compare_ints(const void *a, const void *b) { return *(int *)a < *(int *)b ? -1 : *(int *)a > *(int *)b; }

static void sorting(void) {
    for (int n = 0; n < 60; n += 7) {
        struct item *items = calloc(n + 1, sizeof *items);
        for (int i = 0; i < n; i++) items[i] = (struct item){any() % 20, i};
        qsort(items, n, sizeof *items, compare);
        for (int i = 0; i < n; i++) number(items[i].key * 100 + items[i].place);
        int numbers[40];
        for (int i = 0; i < 40; i++) numbers[i] = any() % 1000 * 2;
        qsort(numbers, 40, sizeof(int), compare_ints);
        for (int key = 0; key < 2000; key += 37) {
            int *found = bsearch(&key, numbers, 40, sizeof(int), compare_ints);
            number(found ? *found : -1);
        }
        size_t count = n;
        struct item key = {7, 0};
        struct item *found = lfind(&key, items, &count, sizeof key, compare);
        number(found ? found - items : -1);
        free(items);
    }
}

static void growing(void) {
    char *buffer = NULL;
    size_t size = 0;
    for (int i = 0; i < 200; i++) {
        if (i >= (int)size) buffer = realloc(buffer, size = size * 2 + 3);
        buffer[i] = any();
    }
    for (int i = 0; i < 200; i++) number(buffer[i]);
    buffer = reallocarray(buffer, 50, 2);
    number(buffer[99]);
    free(buffer);
    void *aligned = NULL;
    number(posix_memalign(&aligned, 256, 10)), number((uintptr_t)aligned % 256);
    free(aligned);
}

static void arithmetic(void) {
    for (int i = 0; i < 20; i++) {
        int a = (int)any() - (int)any(), b = (int)(any() % 100) - 50;
        if (!b) continue;
        div_t d = div(a, b);
        ldiv_t e = ldiv(a, b);
        lldiv_t f = lldiv(a * 1000000000ll, b);
        number(d.quot), number(d.rem), number(e.quot), number(e.rem), number(f.quot), number(f.rem);
        number(abs(a)), number(labs(a)), number(llabs(a * 77777777ll));
        number(__builtin_popcount(a)), number(ffs(a)), number(ffsl(a)), number(ffsll(a));
    }
}

static void streams(void) {
    printf("%d %s %5.2f %p\n", 1, "text", 2.5, (void *)&hash);
    number(puts("a line")), number(putchar('x')), number(putchar('\n'));
    number(fprintf(stderr, "%s %03d", "", 7)), number(fputs("", stderr)), number(fputc(300, stderr));
    number(fwrite(&hash, 1, 0, stderr)), number(fflush(stdout));
    char *text = NULL;
    number(asprintf(&text, "%d-%s", 42, "x"));
    for (char *p = text; *p; p++) number(*p);
    free(text);
}

static void first(void) {
    number(3);
#ifdef NATIVE
    printf("result %u\n", hash);
    fflush(stdout);
#endif
    _Exit(hash);
}
static void second(void) { number(2); }
static void third(void) { number(1), atexit(second); }

int main(void) {
    sorting();
    growing();
    arithmetic();
    streams();
    atexit(first);
    atexit(third);
    return 0;
}
