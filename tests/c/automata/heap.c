// run: --automaton heap => TRUE
// run: --automaton heap -DLEAK => FALSE(heap)
// run: --automaton heap -DTWICE => FALSE(heap)
// run: --automaton heap -DINSIDE => FALSE(heap)
// native: unseen
#include <stdlib.h>

extern unsigned char __VERIFIER_nondet_uchar(void);

struct node {
    struct node *next;
    int *value;
};

int main(void) { // with LEAK wrong: an object that is left at the end is reported here
    struct node *list = NULL;
    for (int n = __VERIFIER_nondet_uchar() % 3; n > 0; n--) {
        struct node *node = malloc(sizeof *node);
        node->next = list;
        node->value = calloc(2, sizeof(int));
        node->value = realloc(node->value, 4 * sizeof(int));
        list = node;
    }
    while (list) {
        struct node *next = list->next;
#ifdef INSIDE
        free(list->value + 1); // wrong
#endif
        free(list->value);
        free(list);
#ifdef TWICE
        if (!next)
            free(list); // wrong
#endif
#ifdef LEAK
        break;
#else
        list = next;
#endif
    }
    free(NULL);
    return 0;
}
