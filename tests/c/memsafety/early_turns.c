// run: --property valid-memsafety --analysis bmc -DBUG => FALSE(valid-memtrack)
// run: --property valid-memsafety --analysis k-induction -DBUG => FALSE(valid-memtrack)
// run: --property valid-memsafety => TRUE
// Pointers that induction does not track search a list. Dropping their accesses in an earlier iteration is
// not an error, and the leak after the search is found.
#include "../verify.h"
#include <stdlib.h>

struct node {
    struct node *next;
    int id;
};
static struct node *list;

static struct node *find(int id) {
    for (struct node *n = list; n; n = n->next)
        if (n->id == id)
            return n;
    struct node *new = malloc(sizeof *new);
    if (!new)
        abort();
    new->next = list;
    new->id = id;
    list = new;
    return new;
}

int main(void) {
    find(1);
    find(2);
    find(3);
    char *text = malloc(4); // wrong
#ifdef BUG
    text = NULL;
#endif
    free(text);
    return 0;
}
