/* A binary search tree of the numbers on standard input; arguments are looked up. */
#include <stdio.h>
#include <stdlib.h>

struct node {
    int value, times;
    struct node *left, *right;
};

static struct node *insert(struct node *tree, int value)
{
    if (tree == NULL) {
        tree = malloc(sizeof *tree);
        if (tree == NULL)
            exit(EXIT_FAILURE);
        *tree = (struct node){value, 1, NULL, NULL};
    } else if (value < tree->value) {
        tree->left = insert(tree->left, value);
    } else if (value > tree->value) {
        tree->right = insert(tree->right, value);
    } else {
        tree->times++;
    }
    return tree;
}

static const struct node *find(const struct node *tree, int value)
{
    while (tree && tree->value != value)
        tree = value < tree->value ? tree->left : tree->right;
    return tree;
}

static int height(const struct node *tree)
{
    if (!tree)
        return 0;
    int left = height(tree->left), right = height(tree->right);
    return 1 + (left > right ? left : right);
}

static void drop(struct node *tree)
{
    if (tree) {
        drop(tree->left);
        drop(tree->right);
        free(tree);
    }
}

int main(int argc, char **argv)
{
    struct node *tree = NULL;
    int value, n = 0;
    while (scanf("%d", &value) == 1) {
        tree = insert(tree, value);
        n++;
    }
    if (!feof(stdin)) {
        fprintf(stderr, "not a number\n");
        drop(tree);
        return 1;
    }
    for (int i = 1; i < argc; i++) {
        const struct node *node = find(tree, atoi(argv[i]));
        if (node)
            printf("%s: %d times\n", argv[i], node->times);
        else
            printf("%s: no\n", argv[i]);
    }
    if (n > 3 && height(tree) == n)
        puts("degenerate");
    drop(tree);
    return 0;
}
