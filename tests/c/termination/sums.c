// An overflow that does not affect the number of iterations does not matter, so all paths are explored; if it affects it, there is no proof.
// run: --property termination => TRUE
// run: --property termination -DMATTERS --timeout 5 => UNKNOWN
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);

struct node {
    struct node *next;
    int value;
};

int main(void) {
#ifdef MATTERS
    int n = __VERIFIER_nondet_int();
    if (n > 2147483640)
        while (n > 0)
            n++;
    return 0;
#else
    struct node *head = 0;
    for (int i = 0; i < 3; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = head;
        node->value = __VERIFIER_nondet_int();
        head = node;
    }
    int sum = 0;
    for (struct node *node = head; node; node = node->next)
        sum += node->value;
    return sum;
#endif
}
