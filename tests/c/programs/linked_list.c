#include "../verify.h"
#include <stdlib.h>

struct node { int key; struct node *next; };

static struct node *insert(struct node *list, int key) {
    struct node **at = &list;
    while (*at && (*at)->key < key)
        at = &(*at)->next;
    struct node *n = malloc(sizeof *n);
    if (!n)
        exit(1);
    *n = (struct node){key, *at};
    *at = n;
    return list;
}
static struct node *reverse(struct node *list) {
    struct node *r = 0;
    while (list) {
        struct node *next = list->next;
        list->next = r;
        r = list;
        list = next;
    }
    return r;
}

int main(void) {
    struct node *list = 0;
    for (int i = 0; i < 3; i++)
        list = insert(list, __VERIFIER_nondet_schar());
    for (struct node *n = list; n->next; n = n->next)
        check(n->key <= n->next->key);
    list = reverse(list);
    check(list->key >= list->next->next->key);
    wrong(list->key != 50 || list->next->key != 49);
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
    return 0;
}
