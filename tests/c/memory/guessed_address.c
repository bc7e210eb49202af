// run: => TRUE
// run: --slicing off => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: -DBUG --analysis predicate => FALSE(unreach-call)
// run: -DASSUMED => TRUE
// run: -DBUG -DASSUMED => FALSE(unreach-call)
// run: -DBUG -DPOINTER => FALSE(unreach-call)
// run: -DLOST => UNKNOWN
// run: -DBUG -DPARTS => FALSE(unreach-call)
// run: -DBUG -DTEXT => FALSE(unreach-call)
// run: -DBUG -DFILE_OF_POINTERS => FALSE(unreach-call)
// run: -DBUG -DFOREIGN --undefined-functions any-value => FALSE(unreach-call)
// native: unseen
#include <stdio.h>
#include <stdlib.h>
#include "../verify.h"

extern unsigned long __VERIFIER_nondet_ulong(void);
extern void *__VERIFIER_nondet_pointer(void);
extern int *foreign(void);

static int x = 5, y = 6;

/* An input may be the address of a variable if the program has converted that address to a number. */
int main(void) {
#if defined(PARTS)
    unsigned long guess = 0;
    for (int i = 0; i < 8; i++)
        guess = guess << 8 | __VERIFIER_nondet_uchar();
    int *p = (int *)guess;
#elif defined(TEXT)
    char text[24];
    if (!fgets(text, sizeof text, stdin))
        return 0;
    int *p = (int *)strtoul(text, 0, 10);
#elif defined(FILE_OF_POINTERS)
    struct { int *p; } content;
    if (fread(&content, sizeof content, 1, stdin) != 1)
        return 0;
    int *p = content.p;
#elif defined(FOREIGN)
    int *p = foreign();
#elif defined(POINTER)
    int *p = __VERIFIER_nondet_pointer();
#else
    unsigned long guess = __VERIFIER_nondet_ulong();
    int *p = (int *)guess;
#endif
#if defined(LOST)
    /* Any object whose address is known. */
    *p = 3;
    check(p != &x || x == 3);
#elif defined(ASSUMED)
    __VERIFIER_assume(guess == (unsigned long)&x);
    *p = 3;
    check(x == 3 && y == 6);
#else
    if (p != &x && p != &y)
        return 0;
    *p = 3;
    check(x == 3 && y == 6 || x == 5 && y == 3);
#endif
    wrong(x == 5);
    return 0;
}
