// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// search.h: trees, whose nodes are found again and visited in order, hash tables with a capacity, lists.
#include <search.h>
#include <stdlib.h>
#include "../verify.h"

static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return x < y ? -1 : x > y;
}

static int seen, last, sorted = 1, deepest;
static void visit(const void *node, VISIT when, int level) {
    if (when != postorder && when != leaf)
        return;
    int value = **(int *const *)node;
    sorted &= !seen || last < value;
    last = value;
    seen++;
    deepest = level > deepest ? level : deepest;
}

int main(void) {
    static int values[7] = {1, 2, 3, 4, 5, 6, 7};
    void *tree = NULL;
    for (int i = 0; i < 7; i++)
        check(**(int **)tsearch(&values[i], &tree, compare) == values[i]);
    twalk(tree, visit);
    check(seen == 7 && sorted && deepest == 3);
    int key = __VERIFIER_nondet_int();
    __VERIFIER_assume(key >= 0 && key < 9);
    check(!tfind(&key, &tree, compare) == (key < 1 || key > 7));
    check(tdelete(&values[3], &tree, compare) && !tfind(&values[3], &tree, compare));

    check(hcreate(2));
    ENTRY *found = hsearch((ENTRY){"a", &values[0]}, ENTER);
    check(found && hsearch((ENTRY){"a", &values[1]}, ENTER) == found && found->data == &values[0]);
    check(!hsearch((ENTRY){"b"}, FIND));
    check(hsearch((ENTRY){"b"}, ENTER) && hsearch((ENTRY){"c"}, ENTER) && !hsearch((ENTRY){"d"}, ENTER));
    hdestroy();
#ifdef BUG
    check(!tfind(&key, &tree, compare) == (key < 1 || key > 7)); // wrong
#endif
    return 0;
}
