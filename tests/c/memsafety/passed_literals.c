// Compound literals whose addresses are passed to functions: the functions decide whether they can be used after their end, which clang does not mark.
// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DBEYOND => FALSE(valid-deref)
// run: --property valid-memsafety -DKEPT => UNKNOWN
// run: --property valid-memsafety -DKEPT_BY_CALLEE => UNKNOWN
// run: --property valid-memsafety -DKEPT_IN_ITSELF => UNKNOWN
// run: --property valid-memsafety -DKEPT_IN_ARGUMENT => UNKNOWN
// run: --property valid-memsafety -DRETURNED => UNKNOWN
// run: --property valid-memsafety -DRETURNED_AS_NUMBER => UNKNOWN
// run: --property valid-memsafety -DBY_POINTER => UNKNOWN
// run: --property valid-memsafety -DNOT_DEFINED => UNKNOWN
#include "../verify.h"
#include <string.h>

struct list {
    int value;
    struct list *next;
};

static struct list *kept;
static int numbers[4];

// Reads, copies, compares; through variables, in a loop, by another function.
static int sum(const int *from, const int *to) {
    const int *at = from;
    int total = 0;
    while (at != to && at) {
        total += *at;
        at = at + 1;
    }
    return total;
}

static int work(const int *from, unsigned count) {
    memcpy(numbers, from, count * sizeof *from); // wrong
    int *own = malloc(sizeof *own);
    *own = sum(from, from + count) + (strlen((const char *)from) > 3);
    int total = *own + (memcmp(from, numbers, count * sizeof *from) != 0);
    free(own);
    return total;
}

static int *greatest(int *from, unsigned count) {
    int *found = from;
    for (unsigned i = 1; i < count; i++)
        found = from[i] > *found ? from + i : found;
    return found;
}

static void keep(struct list *p) { kept = p; }
static void keep_later(struct list *p) {
    struct list *q = p;
    keep(q);
}
static void close_ring(struct list *p) { p->next = p; }
static void append(struct list *last, struct list *p) { last->next = p; }
static unsigned long number(struct list *p) { return (unsigned long)p ^ 1; }
extern void somewhere(struct list *);

int main(void) {
    int total = 0;
    for (int i = 0; i < 2; i++) {
        total += work((int[]){i, 2, 3}, 3);
        total += *greatest((int[]){i, 2, 3}, 3);
    }
#ifdef BEYOND
    total += work((int[]){1, 2}, 3);
#endif
    struct list first = {1, 0}, *p = 0;
    unsigned long n = 0;
    {
#ifdef KEPT
        keep(&(struct list){1, 0});
#elif defined KEPT_BY_CALLEE
        keep_later(&(struct list){1, 0});
#elif defined KEPT_IN_ITSELF
        close_ring(&(struct list){1, 0});
#elif defined KEPT_IN_ARGUMENT
        append(&first, &(struct list){1, 0});
#elif defined RETURNED
        kept = (struct list *)greatest((int *)&(struct list){1, 0}, 1);
#elif defined RETURNED_AS_NUMBER
        n = number(&(struct list){1, 0}) + 1;
        kept = (struct list *)(n - 1 ^ 1);
#elif defined BY_POINTER
        void (*f)(struct list *) = __VERIFIER_nondet_int() ? keep : close_ring;
        f(&(struct list){1, 0});
#elif defined NOT_DEFINED
        somewhere(&(struct list){1, 0});
#endif
    }
    if (kept)
        total += kept->value;
    if (first.next)
        total += first.next->value;
    return total;
}
