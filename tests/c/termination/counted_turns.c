// run: --property termination => TRUE
// run: --property termination -DBUG => FALSE(termination)
// run: --property termination -DBUG -DOTHER --timeout 3 => UNKNOWN
// run: --property termination -DBUG -DFORBIDDEN --timeout 3 => UNKNOWN
// run: --property termination -DBUG -DLARGE --timeout 3 => UNKNOWN
// A traversal of a circular list never ends, although the number of its iterations always differs.
#include "../verify.h"

extern void *malloc(unsigned long);
#ifdef OTHER
extern void other(void);
#endif

struct node {
    struct node *next;
};

int main(void) {
    struct node *head = 0, *last = 0;
    for (int i = 0; i < 3; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = head;
        head = node;
        if (!last)
            last = node;
    }
#ifdef BUG
    last->next = head;
#endif
    unsigned turns = 0;
    for (struct node *node = head; node; node = node->next) { // wrong
        turns++;
#ifdef OTHER
        // It is unknown whether it returns, and the number of iterations matters.
        if (turns == 3000000)
            other();
#endif
#ifdef LARGE
        // It never fits.
        if (turns == 3000000) {
            char large[(unsigned long)turns << 43];
            (void)large;
        }
#endif
#ifdef FORBIDDEN
        // Outside the array: the effect is unknown, and it depends on the number of iterations.
        int pair[2];
        pair[turns == 3000000 ? 2 : 1] = 0;
#endif
    }
    return turns == 2;
}
