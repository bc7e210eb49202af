// The static pre-analysis proves checks about the content of structures that functions pass, about tables, and about objects of frames and scopes.
// An analysis that summarises allocation sites, cells or contexts imprecisely would overlook these faults.
// run: --check address,null,bounds,alignment,pointer-overflow => TRUE
// run: --check default => TRUE
// run: --check address -DFREED => FALSE(address)
// run: --check address -DFREED_ELSEWHERE => FALSE(address)
// run: --check address -DFRAME => FALSE(address)
// run: --check address -DSCOPE => FALSE(address)
// run: --check address -DSECOND => FALSE(address)
// run: --check address -DSHORT => FALSE(address)
// run: --check null -DNULL_LATER => FALSE(null)
// run: --check null -DNULL_COPIED => FALSE(null)
// run: --check bounds -DTABLE => FALSE(bounds)
// run: --check bounds -DWIDER => FALSE(bounds)
// run: --check bounds -DELEMENT => FALSE(bounds)
// run: --check bounds -DSAME => FALSE(bounds)
// run: --check address -DTWICE => FALSE(address)
#include "../verify.h"
#include <stdlib.h>
#include <string.h>

struct state {
    unsigned at, mode;
    int *cells;
    struct state *next;
};

static const unsigned char steps[4] = {1, 2, 3, 4};
static int table[8];
static int *kept;

static void *get(size_t count, size_t size) {
    void *block = malloc(count * size);
    if (!block)
        abort();
    return block;
}

static void set(struct state *s, unsigned mode) {
    s->mode = mode;
}

static int *local(void) {
    int own = 1;
    kept = &own;
    return &own;
}

static void release(struct state *s) {
    free(s->cells);
#ifndef FREED_ELSEWHERE
    s->cells = 0;
#endif
}

static int step(struct state *s) {
    if (s->at < 8)
        return table[s->at];
    return 0;
}

int main(void) {
    struct state one = {0}, two = {0};
    struct state *heap = get(1, sizeof *heap);
    memset(heap, 0, sizeof *heap);
#ifdef SHORT
    one.cells = get(3, sizeof(int));
#else
    one.cells = get(4, sizeof(int));
#endif
    two.cells = get(2, sizeof(int));
    unsigned n = __VERIFIER_nondet_uint();
    set(&one, 1);
    set(&two, 2);
    for (int i = 0; i < 4; i++)
        one.cells[i] = i; // wrong
#ifdef SECOND
    // The shorter of two blocks of one allocation site.
    int *second = n ? one.cells : two.cells;
    second[2] = 1; // wrong
#endif
    two.cells[1] = one.cells[3];
    one.at = steps[n & 3];
#ifdef TABLE
    one.at = steps[n & 3] + 4;
    table[one.at] = 1; // wrong
#endif
#ifdef WIDER
    // A byte of a known number.
    one.at = 0;
    ((unsigned char *)&one.at)[1] = n;
    table[one.at] = 1; // wrong
#endif
#ifdef ELEMENT
    unsigned many[4] = {1, 1, 1, 1};
    many[n & 3] = 9;
    table[many[2]] = 1; // wrong
#endif
#ifdef SAME
    // Written through another pointer to it.
    struct state *other = n & 1 ? &one : &two;
    one.at = 1;
    other->at = 8;
    table[one.at] = 1; // wrong
#endif
    table[step(&one) & 7] = 2;
    heap->next = &one;
    heap->next->mode = 3;
#ifdef NULL_LATER
    if (n == 7)
        heap->next = 0;
    heap->next->mode = 4; // wrong
#endif
#ifdef NULL_COPIED
    struct state copy;
    memcpy(&copy, &two, sizeof copy);
    copy.next->mode = 5; // wrong
#endif
#ifdef SCOPE
    int *inner = table;
    for (int i = 0; i < 2; i++) {
        *inner = 1; // wrong
        int scoped = i;
        inner = &scoped;
    }
#endif
#ifdef FRAME
    local();
    *kept = 3; // wrong
#endif
    release(&one);
#ifdef FREED_ELSEWHERE
    one.cells[0] = 1; // wrong
#endif
#ifdef TWICE
    if (n == 3)
        free(two.cells);
#endif
    free(heap);
#ifdef FREED
    heap->mode = 1; // wrong
#endif
    free(two.cells); // wrong
    return 0;
}
