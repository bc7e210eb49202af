/* Prints the lines of files in reverse order. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct node {
    char *line;
    struct node *below;
} node;

static node *push(node *top, const char *line)
{
    node *n = malloc(sizeof(node));
    if (!n)
        exit(3);
    n->line = strdup(line);
    if (!n->line)
        exit(3);
    n->below = top;
    return n;
}

static int reverse(FILE *f)
{
    node *stack = NULL;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int count = 0;
    while ((length = getline(&line, &size, f)) > 0) {
        if (line[length - 1] == '\n')
            line[length - 1] = '\0';
        stack = push(stack, line);
        count++;
    }
    free(line);
    while (stack != NULL) {
        node *below = stack->below;
        printf("%s\n", stack->line);
        free(stack->line);
        free(stack);
        stack = below;
    }
    return count;
}

int main(int argc, char **argv)
{
    int failed = 0, total = 0;
    if (argc == 1)
        total = reverse(stdin);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-")) {
            total += reverse(stdin);
            continue;
        }
        FILE *f = fopen(argv[i], "r");
        if (f == NULL) {
            fprintf(stderr, "%s: cannot open\n", argv[i]);
            failed = 1;
        } else {
            total += reverse(f);
            fclose(f);
        }
    }
    if (total == 0 && !failed)
        fprintf(stderr, "no lines\n");
    return failed;
}
