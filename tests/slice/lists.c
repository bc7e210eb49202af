// Linked lists on the heap, function pointers, callbacks of the library.
#include <stdlib.h>
#include <string.h>

extern void criterion(int place, long value);

struct node {
    int key;
    int weight;
    struct node *next;
};

typedef int (*measure)(const struct node *);

static int live;
static long comparisons;

static struct node *push(struct node *list, int key, int weight) {
    struct node *n = malloc(sizeof *n);
    live++;
    n->key = key;
    n->weight = weight;
    n->next = list;
    return n;
}

static int by_key(const struct node *n) { return n->key; }
static int by_weight(const struct node *n) { return n->weight * 2; }

static long total(const struct node *list, measure m) {
    long sum = 0;
    for (; list; list = list->next)
        sum += m(list);
    return sum;
}

static struct node *reverse(struct node *list) {
    struct node *done = 0;
    while (list) {
        struct node *next = list->next;
        list->next = done;
        done = list;
        list = next;
    }
    return done;
}

static int compare(const void *a, const void *b) {
    comparisons++;
    return *(const int *)a - *(const int *)b;
}

static void release(struct node *list) {
    while (list) {
        struct node *next = list->next;
        free(list);
        live--;
        list = next;
    }
}

int main(void) {
    struct node *list = 0;
    for (int i = 0; i < 10; i++)
        list = push(list, i * 7 % 10, i);
    measure measures[2] = {by_key, by_weight};
    for (int i = 0; i < 2; i++)
        criterion(1, total(list, measures[i]));
    list = reverse(list);
    criterion(2, list->key * 100 + list->next->weight);
    int keys[10], n = 0;
    for (struct node *p = list; p; p = p->next)
        keys[n++] = p->key;
    qsort(keys, n, sizeof keys[0], compare);
    criterion(3, keys[3] * 10 + keys[7]);
    criterion(4, comparisons > 0);
    int wanted = 6;
    int *found = bsearch(&wanted, keys, n, sizeof keys[0], compare);
    criterion(5, found ? found - keys : -1);
    release(list->next->next);
    criterion(6, live);
    list->next->next = 0;
    struct node copy = *list->next;
    memset(list->next, 0, sizeof *list->next);
    criterion(7, copy.key + list->next->key);
    release(list);
    criterion(8, live);
    return 0;
}
