// Memory that an undefined function may write: memory reachable from its arguments and those of earlier calls, and global objects.
#include <stddef.h>
#include <stdlib.h>

struct node { int *to; int at; struct node *next; };
extern void keep(struct node *node);
extern int poke(int what);

int shared[4] = {0, 1, 2, 3};
int index_of_all = 1;
static int own[4];
static int handed[4] = {1, 1, 1, 1};
static int called;

static int back(int value) {
    called = value;
    own[value & 3]++;
    return own[value & 3];
}

int (*const callback)(int) = back;

int main(int argc, char **argv) {
    struct node *node = malloc(sizeof *node);
    if (!node)
        return 1;
    *node = (struct node){handed, 2, NULL};
    keep(node);
    int sum = own[called & 3];
    sum += handed[node->at];    // `keep` may have changed the index
    sum ^= *node->to;           // `keep` may have changed the pointer
    int what = poke(argc);
    int *place = &own[1];
    sum ^= *place;
    sum ^= shared[index_of_all]; // any undefined function may have written the index
    sum ^= own[called];          // the callback may have written the index
    sum ^= shared[shared[2] & 3];
    if (what > 3)
        sum ^= handed[what & 7];
    (void)argv;
    free(node);
    return sum & 1;
}
