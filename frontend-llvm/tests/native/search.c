// search.h, without functions on arrays.
#include "harness.h"
#include <search.h>

static int compare(const void *a, const void *b) {
    const char *x = a, *y = b;
    see(*x);
    see(*y);
    return *x - *y;
}
static const char keys[] = "abcdefghijklmnop";

static void visit(const void *node, VISIT when, int level) {
    see(**(const char *const *)node);
    see(when);
    see(level);
}
static void visit_with(const void *node, VISIT when, void *argument) {
    see(**(const char *const *)node);
    see(when);
    see_pointer(argument);
}
static void drop(void *key) { see(*(char *)key); }

// Shows the key of a node, the part that a program can observe.
static void see_node(void *node) {
    see(node != NULL);
    if (node)
        see(**(const char *const *)node);
}
DRIVER(trees) {
    void *tree = NULL;
    for (unsigned n = random_below(60); n > 0; n--) {
        const char *key = &keys[random_below(16)];
        switch (random_below(4)) {
        case 0: {
            // The result is the parent of the deleted node, unless that was the root.
            const void *root = tree ? *(const void *const *)tree : NULL;
            void *parent = LIB(tdelete)(key, &tree, compare);
            see(parent != NULL);
            if (parent && root != key)
                see_node(parent);
            break;
        }
        case 1:
            see_node(LIB(tfind)(key, &tree, compare));
            break;
        default:
            see_node(LIB(tsearch)(key, &tree, compare));
        }
    }
    LIB(twalk)(tree, visit);
    LIB(twalk_r)(tree, visit_with, room(1));
    see(LIB(tsearch)(keys, NULL, compare) == NULL);
    LIB(tdestroy)(tree, drop);
}

DRIVER(hash_tables) {
    static const char *const names[] = {"a", "b", "ab", "abc", "", "x", "xy", "xyz", "longer", "names", "in", "tables"};
    static int values[40];
    struct hsearch_data own = {0};
    _Bool its_own = random_below(2);
    size_t size = random_below(14);
    see(its_own ? LIB(hcreate_r)(size, &own) : LIB(hcreate)(size));
    if (random_below(4) == 0)
        see(its_own ? LIB(hcreate_r)(size, &own) : LIB(hcreate)(size));
    for (int i = 0; i < 30; i++) {
        ENTRY item = {(char *)names[random_below(12)], &values[i]}, *found = NULL;
        ACTION action = random_below(2) ? ENTER : FIND;
        if (its_own)
            see(LIB(hsearch_r)(item, action, &found, &own));
        else
            found = LIB(hsearch)(item, action);
        see(found != NULL);
        if (found) {
            see_text(found->key);
            see((int *)found->data - values);
        }
        see(LIB_ERRNO);
    }
    if (its_own)
        LIB(hdestroy_r)(&own);
    else
        LIB(hdestroy)();
}

DRIVER(lists) {
    struct link {
        struct link *next, *before;
    } *all[6];
    for (int i = 0; i < 6; i++)
        all[i] = room(sizeof(struct link));
    _Bool circle = random_below(2);
    LIB(insque)(all[0], NULL);
    if (circle)
        all[0]->next = all[0]->before = all[0];
    for (int i = 1; i < 6; i++)
        LIB(insque)(all[i], all[random_below(i)]);
    for (unsigned n = random_below(3); n > 0; n--)
        LIB(remque)(all[2 * n]);
    for (int i = 0; i < 6; i++) {
        see_pointer(all[i]->next);
        see_pointer(all[i]->before);
        all[i]->next = all[i]->before = NULL;
    }
}
