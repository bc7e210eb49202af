// run: --entry length => TRUE
// run: --entry length --32 => TRUE
// run: --entry last --property valid-deref => TRUE
// run: --entry last --property valid-deref --entry-pointers maybe-null => FALSE(valid-deref)
// run: --entry destroy --property valid-memsafety => TRUE
// run: --entry freed --property valid-memsafety => FALSE(valid-deref)
// run: --entry forget --property valid-memtrack => TRUE
// run: --entry lookup --property valid-deref => TRUE
// run: --entry copied => TRUE
// run: --entry apart => TRUE
// run: --entry apart --entry-pointers aliasing => FALSE(unreach-call)
// run: --entry set => FALSE(unreach-call)
// run: --entry length --property termination --timeout 4 => UNKNOWN
// run: --entry sentinel => TRUE
// Loops over argument lists and trees of any size. Visited nodes are dropped, so states recur.
#include "../verify.h"
#include <stdlib.h>
#include <string.h>

struct node {
    unsigned value;
    struct node *next;
};
struct tree {
    int key;
    struct tree *left, *right;
};

unsigned length(struct node *n) {
    unsigned count = 0;
    for (; n; n = n->next)
        count++;
    return count;
}

unsigned last(struct node *n) {
    while (n->next) // wrong if the list is empty
        n = n->next;
    return n->value;
}

void destroy(struct node *n) {
    while (n) {
        struct node *next = n->next;
        free(n);
        n = next;
    }
}

void freed(struct node *n) {
    while (n) {
        free(n);
        n = n->next; // wrong
    }
}

// The caller may have other pointers.
void forget(struct node *n) { n->next = NULL; }

struct tree *lookup(struct tree *t, int key) {
    while (t && t->key != key)
        t = key < t->key ? t->left : t->right;
    return t;
}

// A pointer that was copied before it was first dereferenced points to the same object.
void copied(struct node *a, struct node *b) {
    struct node other;
    memcpy(&other, a, sizeof other);
    *b = *a;
    check(other.next == a->next && b->next == a->next);
    if (a->next) {
        a->next->value = 7;
        check(other.next->value == 7 && b->next->value == 7);
    }
}

void apart(struct node *a, struct node *b) {
    if (a->next && b->next)
        check(a->next != b->next); // wrong if they may be the same
}

void set(struct node *n) {
    unsigned count = 0;
    for (; n; n = n->next) {
        n->value = count++;
        check(n->value < 3); // wrong
    }
}

// A value that is no address of an object does not change.
void sentinel(void **slot, struct node *n) {
    *slot = (void *)-1;
    void *read = *slot;
    check(read == (void *)-1);
    *slot = n;
    read = *slot;
    check(read == n);
}

int main(void) { return 0; }
