#include <stdlib.h>
struct node { int *to; int at; struct node *next; };
extern int shared[4], index_of_all;
extern int (*const callback)(int);
static struct node *kept;
static int mode = -1;
static int chosen(void) {
    const char *text = getenv("MODE");
    return mode < 0 ? mode = text ? atoi(text) : 0 : mode;
}
void keep(struct node *node) {
    kept = node;
    if (chosen() == 1)
        node->at = 400;
    if (chosen() == 2)
        node->to = NULL;
}
int poke(int what) {
    switch (chosen()) {
    case 3: index_of_all = 77; break;
    case 4: callback(1000); break;
    case 5: free(kept); break;
    case 6: return 7;
    case 7: kept->next = kept; shared[2] = -1; break;
    }
    return what & 1;
}
