// `proviso/tests/places.rs` defines one of the names below.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int x, y, *unexposed = &x;
#ifdef INITIAL
static unsigned long initial = (unsigned long)&x;
#endif

static void set(void) { x = 1; }

static int is_same(unsigned long a, unsigned long b) { return a == b; }

static int are_same(int count, ...) {
    va_list arguments;
    va_start(arguments, count);
    unsigned long a = va_arg(arguments, unsigned long), b = va_arg(arguments, unsigned long);
    va_end(arguments);
    return a == b;
}

static int order(const void *a, const void *b) {
    (void)a;
    (void)b;
    return 0;
}

/* The environment knows the address of x, except for HIDDEN, so an input may be this address. */
int main(int argc, char **argv) {
    int a[2] = {0, 0}, *q = &y;
    unsigned long number = 0;
    (void)argv;
    (void)unexposed;
    (void)set;
    (void)is_same;
    (void)are_same;
    (void)order;
#if defined(HIDDEN)
    if (fread(&q, sizeof q, 1, stdin) != 1)
        return 0;
#elif defined(PRINTED)
    printf("%p\n", (void *)&x);
    if (scanf("%p", (void **)&q) != 1)
        return 0;
#elif defined(FORMATTED)
    if (printf(argc > 1 ? "%p\n" : "%p!\n", (void *)&x) < 0 || scanf("%p", (void **)&q) != 1)
        return 0;
#elif defined(NUMBER)
    int *p = &x;
    printf("%lu\n", (unsigned long)p);
#elif defined(CONSTANT)
    printf("%lu\n", (unsigned long)&x);
#elif defined(FILED)
    int *p = &x;
    if (fwrite(&p, sizeof p, 1, stdout) != 1 || fread(&q, sizeof q, 1, stdin) != 1)
        return 0;
#elif defined(COMPARED)
    if (scanf("%p", (void **)&q) != 1 || q != &x)
        return 0;
#elif defined(PARTS)
    int *p = &x;
    if (fread(&q, sizeof q, 1, stdin) != 1)
        return 0;
    for (unsigned i = 0; i < sizeof q; i++)
        if (((unsigned char *)&q)[i] != ((unsigned char *)&p)[i])
            return 0;
#elif defined(REPRESENTATION)
    int *p = &x;
    if (fread(&q, sizeof q, 1, stdin) != 1 || memcmp(&p, &q, sizeof q))
        return 0;
#elif defined(UNION)
    union { int *p; unsigned long number; } u = {&x};
    if (scanf("%lu", &number) != 1 || u.number != number)
        return 0;
    q = (int *)number;
#elif defined(INITIAL)
    if (scanf("%lu", &number) != 1 || initial != number)
        return 0;
    q = (int *)number;
#elif defined(FUNCTION)
    void (*f)(void) = set;
    printf("%lu", (unsigned long)f);
    if (scanf("%p", (void **)&f) != 1)
        return 0;
    f();
#elif defined(ARGUMENT)
    if (scanf("%lu", &number) != 1 || !is_same((unsigned long)&x, number))
        return 0;
    q = (int *)number;
#elif defined(VARIABLE_ARGUMENT)
    if (scanf("%lu", &number) != 1 || !are_same(2, &x, number))
        return 0;
    q = (int *)number;
#elif defined(TEXT)
    char text[40];
    snprintf(text, sizeof text, "%p", (void *)&x);
    fputs(text, stdout);
    if (fread(&q, sizeof q, 1, stdin) != 1)
        return 0;
#elif defined(DIFFERENCE)
    char *p = (char *)&x, *r;
    if (fread(&r, sizeof r, 1, stdin) != 1)
        return 0;
    long distance = r - p;
    if (distance)
        return 0;
    q = (int *)r;
#elif defined(READ_AS_NUMBER)
    int *p = &x;
    printf("%lu\n", *(unsigned long *)&p);
#elif defined(FROM_NULL)
    int *p = &x;
    printf("%ld\n", (char *)p - (char *)0);
#elif defined(SORTED)
    int *p[2] = {&x, &y};
    qsort(p, 2, sizeof *p, order);
    if (scanf("%lu", &number) != 1 || (unsigned long)p[0] != number)
        return 0;
    q = (int *)number;
#endif
#if defined(NUMBER) || defined(CONSTANT) || defined(READ_AS_NUMBER) || defined(FROM_NULL)
    if (scanf("%lu", &number) != 1)
        return 0;
    q = (int *)number;
#endif
    *q = 1;
    a[x + 1] = 1;
    return a[0];
}
