/* A search tree into which N numbers are put: each shape is a path of its own. */
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
#ifndef N
#define N 6
#endif
struct node {
    int key;
    struct node *left, *right;
};

int main(void) {
    struct node *root = 0;
    for (int i = 0; i < N; i++) {
        struct node *new = malloc(sizeof *new);
        if (!new)
            return 0;
        new->key = __VERIFIER_nondet_int();
        new->left = new->right = 0;
        struct node **at = &root;
        while (*at)
            at = new->key < (*at)->key ? &(*at)->left : &(*at)->right;
        *at = new;
    }
    for (struct node *n = root; n; n = n->left)
        if (n->left && n->left->key >= n->key)
            reach_error();
    return 0;
}
