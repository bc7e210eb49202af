#include "../verify.h"
#include <stdlib.h>

struct tree { struct tree *left, *right; unsigned char key; };

static struct tree *add(struct tree *t, unsigned char key) {
    if (!t) {
        t = calloc(1, sizeof *t);
        if (!t)
            exit(1);
        t->key = key;
    } else if (key < t->key) {
        t->left = add(t->left, key);
    } else if (key > t->key) {
        t->right = add(t->right, key);
    }
    return t;
}
static int size(const struct tree *t) { return t ? 1 + size(t->left) + size(t->right) : 0; }
static int height(const struct tree *t) {
    if (!t)
        return 0;
    int l = height(t->left), r = height(t->right);
    return 1 + (l > r ? l : r);
}

int main(void) {
    struct tree *t = 0;
    for (int i = 0; i < 3; i++)
        t = add(t, __VERIFIER_nondet_uchar());
    int n = size(t), h = height(t);
    check(n >= 1 && n <= 3 && h <= n && h >= 1);
    wrong(n != 3 || h != 2);
    return 0;
}
