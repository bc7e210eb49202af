// A traversal of an existing list of any length visits no node twice, even if it frees the visited nodes.
// run: --property termination => TRUE
// run: --property termination -DRING => FALSE(termination)
// run: --property termination -DMOVES => FALSE(termination)
// There is no allocation after the frees, so slices know all addresses.
// run: --property termination -DREVERSES => TRUE
// A new node in each iteration differs from all others, and yet there is no end.
// run: --property termination -DRENEWS => FALSE(termination)
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);

struct node {
    struct node *next;
    int value;
};

static struct node *renewed(void) {
    struct node *new = malloc(sizeof *new);
    new->next = 0;
    return new;
}

static struct node *in_front(int n) {
    struct node *head = 0;
    for (int i = 0; i < n; i++) {
        struct node *new = malloc(sizeof *new);
        new->next = head;
        new->value = __VERIFIER_nondet_int();
        head = new;
    }
    return head;
}

static struct node *behind(int n) {
    struct node *head = malloc(sizeof *head), *tail = head;
    head->value = 0;
    for (int i = 0; i < n; i++) {
        struct node *new = malloc(sizeof *new);
        new->value = __VERIFIER_nondet_int();
        tail->next = new;
        tail = new;
    }
#ifdef RING
    tail->next = head;
#else
    tail->next = 0;
#endif
    return head;
}

static int has(struct node *p, int value) {
    while (p && p->value != value) // wrong
        p = p->next;
    return p != 0;
}

static void drop(struct node *p) {
    while (p) { // wrong
        struct node *next = p->next;
#ifdef MOVES
        if (next) {
            next->next = p;
            p->next = 0;
        }
#else
        free(p);
#endif
        p = next;
    }
}

int main(void) {
#ifdef REVERSES
    struct node *old = in_front(__VERIFIER_nondet_int()), *turned = 0;
    while (old) {
        struct node *next = old->next;
        old->next = turned;
        turned = old;
        old = next;
    }
    int nodes = 0;
    for (struct node *p = turned; p; p = p->next)
        nodes++;
    drop(turned);
    return nodes;
#endif
#ifdef RENEWS
    struct node *p = malloc(sizeof *p);
    while (p) { // wrong
        free(p);
        p = renewed();
    }
#endif
    struct node *list = in_front(__VERIFIER_nondet_int());
    int found = has(list, 3);
    drop(list);
    list = behind(__VERIFIER_nondet_int());
    found += has(list, -1);
    drop(list);
    return found;
}
