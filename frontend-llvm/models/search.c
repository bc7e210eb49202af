// Defines: hcreate hcreate_r hdestroy hdestroy_r hsearch hsearch_r insque remque tsearch tfind tdelete twalk twalk_r
// Defines: tdestroy
#pragma once
#include "proviso.h"

// search.h, except for arrays (stdlib.c).

// Hash tables. Entries are in the order of insertion. The capacity is the least prime that is at least the requested
// size and at least three.

struct proviso_entry {
    char *key;
    void *data;
};

// The size of the library's structure, which starts with the same pointer.
struct proviso_table {
    struct proviso_entry *entries;
    unsigned size, filled;
};

static struct proviso_table proviso_the_table;

static _Bool proviso_is_prime(unsigned odd) {
    for (unsigned divisor = 3; divisor <= odd / divisor; divisor += 2) {
        if (odd % divisor == 0)
            return 0;
    }
    return 1;
}

static int proviso_make_table(size_t count, struct proviso_table *table) {
    if (!table) {
        SET_ERRNO(EINVAL);
        return 0;
    }
    if (table->entries)
        return 0;
    if (count >= SIZE_MAX / sizeof(struct proviso_entry) || count >= 0xffffffff) {
        SET_ERRNO(ENOMEM);
        return 0;
    }
    for (count = count < 3 ? 3 : count | 1; !proviso_is_prime(count); count += 2)
        ;
    table->size = count;
    table->filled = 0;
    table->entries = __proviso_alloc_hash_table(count * sizeof(struct proviso_entry));
    return table->entries != NULL;
}

static void proviso_drop_table(struct proviso_table *table) {
    if (!table) {
        SET_ERRNO(EINVAL);
        return;
    }
    __proviso_free_hash_table(table->entries);
    table->entries = NULL;
}

static int proviso_look_up(struct proviso_entry item, int enters, struct proviso_entry **result,
                           struct proviso_table *table) {
    if (!table->entries)
        __proviso_unmodelled("a search in a hash table that is not there is not modelled");
    for (unsigned i = 0; i < table->filled; i++) {
        const char *a = table->entries[i].key, *b = item.key;
        while (*a && *a == *b) {
            a++;
            b++;
        }
        if (*a == *b) {
            *result = &table->entries[i];
            return 1;
        }
    }
    proviso_strlen(item.key);
    if (!enters || table->filled == table->size) {
        SET_ERRNO(enters ? ENOMEM : ESRCH);
        *result = NULL;
        return 0;
    }
    *result = &table->entries[table->filled];
    table->filled++;
    **result = item;
    return 1;
}

int hcreate(size_t count) { return proviso_make_table(count, &proviso_the_table); }

int hcreate_r(size_t count, struct proviso_table *table) { return proviso_make_table(count, table); }

void hdestroy(void) { proviso_drop_table(&proviso_the_table); }

void hdestroy_r(struct proviso_table *table) { proviso_drop_table(table); }

struct proviso_entry *hsearch(struct proviso_entry item, int enters) {
    struct proviso_entry *result;
    proviso_look_up(item, enters, &result, &proviso_the_table);
    return result;
}

int hsearch_r(struct proviso_entry item, int enters, struct proviso_entry **result, struct proviso_table *table) {
    return proviso_look_up(item, enters, result, table);
}

// Lists.

struct proviso_link {
    struct proviso_link *next, *before;
};

void insque(struct proviso_link *element, struct proviso_link *before) {
    if (!before) {
        element->next = element->before = NULL;
        return;
    }
    struct proviso_link *next = before->next;
    before->next = element;
    if (next)
        next->before = element;
    element->next = next;
    element->before = before;
}

void remque(struct proviso_link *element) {
    if (element->next)
        element->next->before = element->before;
    if (element->before)
        element->before->next = element->next;
}

// Trees: the red-black trees of the GNU C library, because a walk shows the depths of nodes. The program can observe the key of a node.

struct proviso_node {
    const void *key;
    // The left and the right child.
    struct proviso_node *child[2];
    _Bool red;
};

static _Bool proviso_is_red(struct proviso_node *node) { return node && node->red; }

// On the way down: a node with two red children becomes red, and so does a new node. Two consecutive red nodes are
// rotated. `right` and `parent_right` are the directions of the edges to the node and to its parent.
static void proviso_split_node(struct proviso_node **root, struct proviso_node **parent,
                               struct proviso_node **grandparent, _Bool right, _Bool parent_right,
                               _Bool new) {
    struct proviso_node *node = *root;
    if (!new && !(proviso_is_red(node->child[0]) && proviso_is_red(node->child[1])))
        return;
    node->red = 1;
    for (int i = 0; i < 2; i++) {
        if (node->child[i])
            node->child[i]->red = 0;
    }
    if (!parent || !(*parent)->red)
        return;
    struct proviso_node *above = *grandparent, *middle = *parent;
    if (right != parent_right) {
        middle->red = above->red = 1;
        node->red = 0;
        middle->child[right] = node->child[!right];
        node->child[!right] = middle;
        above->child[!right] = node->child[right];
        node->child[right] = above;
        *grandparent = node;
    } else {
        *grandparent = middle;
        middle->red = 0;
        above->red = 1;
        above->child[right] = middle->child[!right];
        middle->child[!right] = above;
    }
}

typedef int proviso_order_of(const void *, const void *);

void *tsearch(const void *key, void **tree, proviso_order_of *order) {
    struct proviso_node **root = (struct proviso_node **)tree, **parent = NULL, **grandparent = NULL, **next = root;
    _Bool right = 0, parent_right = 0, grandparent_right = 0;
    if (!root)
        return NULL;
    if (*root)
        (*root)->red = 0;
    while (*next) {
        struct proviso_node *node = *root;
        int difference = order(key, node->key);
        if (difference == 0)
            return node;
        right = difference > 0;
        proviso_split_node(root, parent, grandparent, parent_right, grandparent_right, 0);
        next = &node->child[right];
        if (!*next)
            break;
        grandparent = parent;
        parent = root;
        root = next;
        grandparent_right = parent_right;
        parent_right = right;
    }
    struct proviso_node *node = __proviso_alloc_tree_node(sizeof *node);
    if (!node)
        return NULL;
    *next = node;
    node->key = key;
    node->red = 1;
    node->child[0] = node->child[1] = NULL;
    if (next != root)
        proviso_split_node(next, root, parent, right, parent_right, 1);
    return node;
}

void *tfind(const void *key, void *const *tree, proviso_order_of *order) {
    if (!tree)
        return NULL;
    struct proviso_node *node = *tree;
    while (node) {
        int difference = order(key, node->key);
        if (difference == 0)
            break;
        node = node->child[difference > 0];
    }
    return node;
}

// Rebalances above a node that has lost a black one. Returns whether nothing is left to do. The path to the node grows if the tree is rotated first.
static _Bool proviso_mend(struct proviso_node ***path, unsigned *depth, struct proviso_node *node) {
    struct proviso_node **place = path[*depth - 1], *parent = *place;
    _Bool right = node != parent->child[0];
    struct proviso_node *brother = parent->child[!right];
    if (brother->red) {
        brother->red = 0;
        parent->red = 1;
        parent->child[!right] = brother->child[right];
        brother->child[right] = parent;
        *place = brother;
        place = path[(*depth)++] = &brother->child[right];
        brother = parent->child[!right];
    }
    if (!proviso_is_red(brother->child[0]) && !proviso_is_red(brother->child[1])) {
        brother->red = 1;
        return 0;
    }
    struct proviso_node *top = brother;
    if (proviso_is_red(brother->child[!right])) {
        top->red = parent->red;
        brother->child[!right]->red = 0;
        parent->child[!right] = brother->child[right];
    } else {
        top = brother->child[right];
        top->red = parent->red;
        parent->child[!right] = top->child[right];
        brother->child[right] = top->child[!right];
        top->child[!right] = brother;
    }
    parent->red = 0;
    top->child[right] = parent;
    *place = top;
    return 1;
}

// The result of a deletion: null, or the parent of the deleted node. For the root, the deleted node itself.
void *tdelete(const void *key, void **tree, proviso_order_of *order) {
    enum { DEEPEST = 2 * 8 * sizeof(void *) };
    struct proviso_node **path[DEEPEST], **root = (struct proviso_node **)tree;
    unsigned depth = 0;
    if (!root || !*root)
        return NULL;
    struct proviso_node *above = *root;
    int difference;
    while ((difference = order(key, (*root)->key)) != 0) {
        path[depth] = root;
        depth++;
        above = *root;
        root = &above->child[difference > 0];
        if (!*root)
            return NULL;
    }
    // If it has two children, its successor takes its place.
    struct proviso_node *found = *root, *gone = found;
    if (found->child[0] && found->child[1]) {
        struct proviso_node **parent = root, **up = &found->child[1];
        for (;; up = &(*up)->child[0]) {
            path[depth] = parent;
            depth++;
            parent = up;
            if (!(*up)->child[0])
                break;
        }
        gone = *up;
    }
    struct proviso_node *left = gone->child[!gone->child[0]];
    if (depth == 0) {
        *root = left;
    } else {
        struct proviso_node *parent = *path[depth - 1];
        parent->child[gone == parent->child[1]] = left;
    }
    found->key = gone->key;
    if (!gone->red) {
        while (depth > 0 && !proviso_is_red(left)) {
            struct proviso_node *parent = *path[depth - 1];
            if (proviso_mend(path, &depth, left)) {
                left = NULL;
                break;
            }
            left = parent;
            depth--;
        }
        if (left)
            left->red = 0;
    }
    __proviso_free_tree_node(gone);
    return above;
}

// Before its children, between them, after them, and for a leaf.
static void proviso_walk(struct proviso_node *node, void (*visit)(const void *, int, int),
                         void (*visit_with)(const void *, int, void *), int level, void *argument) {
    _Bool leaf = !node->child[0] && !node->child[1];
    for (int when = leaf ? 3 : 0; when < (leaf ? 4 : 3); when++) {
        if (visit)
            visit(node, when, level);
        else
            visit_with(node, when, argument);
        if (when < 2 && node->child[when])
            proviso_walk(node->child[when], visit, visit_with, level + 1, argument);
    }
}

void twalk(const void *tree, void (*visit)(const void *, int, int)) {
    if (tree && visit)
        proviso_walk((struct proviso_node *)tree, visit, NULL, 0, NULL);
}

void twalk_r(const void *tree, void (*visit)(const void *, int, void *), void *argument) {
    if (tree && visit)
        proviso_walk((struct proviso_node *)tree, NULL, visit, 0, argument);
}

static void proviso_destroy(struct proviso_node *node, void (*drop)(void *)) {
    for (int i = 0; i < 2; i++) {
        if (node->child[i])
            proviso_destroy(node->child[i], drop);
    }
    drop((void *)node->key);
    __proviso_free_tree_node(node);
}

void tdestroy(void *tree, void (*drop)(void *)) {
    if (tree)
        proviso_destroy(tree, drop);
}
