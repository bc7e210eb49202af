// run: --entry third => FALSE(unreach-call)
// run: --entry third --entry-depth 2 => TRUE
// run: --entry neighbours => TRUE
// run: --entry neighbours --entry-pointers aliasing => FALSE(unreach-call)
// run: --entry copied => TRUE
// run: --entry exchange => TRUE
// run: --entry overwritten => TRUE
// run: --entry overwritten --entry-pointers aliasing => FALSE(unreach-call)
// run: --entry given --entry-pointers maybe-null => FALSE(unreach-call)
// run: --entry given => TRUE
// run: --entry boxed => FALSE(unreach-call)
// run: --entry filled => TRUE
// run: --entry bytes --entry-array-length 3 => FALSE(unreach-call)
// run: --entry global => FALSE(unreach-call)
// run: --entry mixed => FALSE(unreach-call)
// Functions with pointer arguments.
#include "../verify.h"
#include <stdlib.h>
#include <string.h>

struct node {
    int value;
    struct node *next;
};

// A list may have three nodes.
int third(struct node *n) {
    int count = 0;
    for (; n; n = n->next) {
        if (n->value < 0)
            return -1;
        count++;
        check(count != 3 || n->value != 42); // wrong
    }
    return count;
}

// A pointer points to the same object each time it is dereferenced.
int neighbours(struct node *n) {
    int value = n->value;
    struct node *next = n->next;
    if (next) {
        check(n->next == next);
        next->value = 7;
        check(n->next->value == 7);
        check(n->value == value); // wrong
    }
    return value;
}

// Even if it was copied before.
void copied(struct node *n) {
    struct node copy;
    memcpy(&copy, n, sizeof copy);
    if (copy.next) {
        copy.next->value = 4;
        check(n->next == copy.next && n->next->value == 4);
    }
}

void exchange(int *a, int *b) {
    int old_a = *a, old_b = *b;
    *a = old_b;
    *b = old_a;
    check(*a == old_b && *b == old_a);
}

void overwritten(int *a, int *b) {
    *a = 1;
    *b = 2;
    check(*a == 1); // wrong
}

void given(int *p) { check(p != 0); } // wrong

struct box {
    const char *name;
    unsigned char tag;
    struct node *list;
    double *weights;
    int (*callback)(int);
};

void boxed(struct box *box, short k, double d) {
    if (strlen(box->name) == 2 && box->tag == 9 && box->list->value == 5 && box->list->next == 0)
        check(box->weights[0] != 1.5 || k != box->list->value || d < 2); // wrong
}

// The object that a function fills exists.
void filled(struct node **where, int *result) {
    *where = malloc(sizeof **where);
    (*where)->value = 3;
    *result = (*where)->value;
    check(*result == 3);
}

void bytes(const unsigned char *data) { check(data[0] + data[1] + data[2] != 300); } // wrong

static struct node start;

// Global variables have their initial values.
void global(struct node *n) {
    check(start.value == 0 && start.next == 0);
    start = *n;
    check(start.value != 11); // wrong
}

void mixed(char c, struct node *n, unsigned long long big, float f, _Bool b) {
    check(!(c == 'x' && n->value == -1 && big == 0xfedcba9876543210 && f == 0.5f && b)); // wrong
}

int main(void) { return 0; }
