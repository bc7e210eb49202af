// run: --check memory => TRUE
// run: --check memory -DBUG=1 => FALSE(memory)
// run: --check memory -DBUG=2 => FALSE(memory)
// run: --check memory -DBUG=3 => FALSE(memory)
// run: --check memory -DBUG=4 => FALSE(memory)
// run: --check memory -DBUG=5 => FALSE(memory)
// run: --check memory -DBUG=6 => FALSE(memory)
// run: --check memory -DBUG=7 => FALSE(memory)
// run: --check memory -DBUG=8 => FALSE(memory)
// Structs: copying, passing and returning padding and uninitialised members is allowed; bit-fields, unions.
#include "../../verify.h"
#include <stdlib.h>
#include <string.h>

#ifndef BUG
#define BUG 0
#endif

struct padded { char c; int n; };
struct small { char c; short s; };
struct large { int used, a[6]; };
struct bits { unsigned low : 3, middle : 6, high : 20; };
union either { int n; unsigned char bytes[4]; };

static struct padded copy(struct padded p) { struct padded q = p; q.n++; return q; }
static struct small pass(struct small s) { return s; }
static struct large grow(struct large l) { l.a[l.used++] = 1; return l; }

int main(void) {
    struct padded p, *heap;
    p.c = 1;
    if (BUG != 1)
        p.n = 2;
    p = copy(p);
    heap = malloc(sizeof *heap);
    *heap = p;
    if (heap->n == 4) // wrong
        return 0;
    free(heap);

    struct small s;
    s.c = 1;
    s = pass(s);
    if ((BUG == 2 ? s.s : s.c) == 2) // wrong
        return 0;

    struct large l;
    l.used = 0;
    l = grow(grow(l));
    if (l.a[BUG == 3 ? l.used : l.used - 1] != 1) // wrong
        return 0;

    struct bits b;
    b.low = 5;
    b.middle = 33;
    if (b.low != 5 || b.middle != 33)
        return 0;
    if (BUG == 4 ? b.high : b.middle == 34) // wrong
        return 0;

    union either e;
    e.bytes[0] = 1;
    if (e.bytes[BUG == 5] == 2) // wrong
        return 0;
    if (BUG != 6)
        e.bytes[1] = e.bytes[2] = e.bytes[3] = 0;
    if (e.n != 1) // wrong
        return 0;

    struct padded one = {1, 2}, two;
    memset(&two, 0, BUG == 7 ? 1 : sizeof two);
    two.c = 1;
    two.n = 2;
    if (memcmp(&one.n, &two.n, sizeof one.n) == 0 && memcmp(&two, &two.c, sizeof two)) // wrong
        return 0;

    struct large whole = {0}, part;
    part.used = 0;
    if (BUG != 8)
        part = whole;
    if (part.a[5]) // wrong
        return 0;
    return 0;
}
