// run: --property termination => TRUE
// run: --property termination -DBUG => FALSE(termination)
// run: --property termination -DBUG -DOTHER --timeout 3 => UNKNOWN
// run: --property termination -DBUG -DFORBIDDEN --timeout 3 => UNKNOWN
// run: --property termination -DBUG -DLARGE --timeout 3 => UNKNOWN
// A walk over a list that is a circle never ends, though the number of its turns is another each time.
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
        // Nobody knows whether it returns: the number of turns matters.
        if (turns == 3000000)
            other();
#endif
#ifdef LARGE
        // It fits nowhere.
        if (turns == 3000000) {
            char large[(unsigned long)turns << 43];
            (void)large;
        }
#endif
#ifdef FORBIDDEN
        // Outside the array: what becomes of that is not known, and it is the number of turns that leads there.
        int pair[2];
        pair[turns == 3000000 ? 2 : 1] = 0;
#endif
    }
    return turns == 2;
}
