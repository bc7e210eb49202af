// Memory and functions that undefined functions reach in indirect ways, and memory that they do not reach.
#include <stdlib.h>
#include <string.h>

struct list { int size; int *items; struct list *next; };
struct operations { int (*open)(int); void (*close)(void); };
extern int outside(int what);
extern void format(const char *text, ...);
extern char *within(const char *text);
extern void *make(void);

static int hidden = 2;                     // nothing outside knows it
static int listed = 2;                     // only through `lists`
static int tables[3] = {0, 1, 2};
static struct list inner = {3, tables, NULL};
struct list lists = {1, &listed, &inner};  // visible
static int *heap;                          // freed by `shut`
static int opened;                         // written by `begin`
static int deep;
static int *newest;

static int begin(int value) {
    opened = value;
    return tables[value % 3];              // a negative value fails
}
static void shut(void) {
    free(heap);
    heap = NULL;
}
struct operations operations = {begin, shut};

static int chosen;
__attribute__((destructor)) static void done(void) {
    tables[chosen] = 1;                    // `outside` may end the program in between
}

static int *allocate(int value) {
    int *made = malloc(sizeof *made);
    if (!made)
        exit(1);
    *made = value;
    newest = made;
    return made;
}
static int again(int value) {
    allocate(value);
    return 0;
}
int (*visible_again)(int) = again;

static int inside(int *local) {
    int own[4] = {0, 1, 2, 3};
    outside(1);
    return own[own[3]] + local[0];
}

static int recursive(int depth) {
    int own[4] = {0, 1, 2, 3};
    deep = depth;
    format("%p", &own[1]);
    int at = own[deep & 3];                // a call from within `format` writes `deep`
    int sum = tables[deep];
    return own[at] + sum;                  // `format` writes `own`
}
int (*visible_recursive)(int) = recursive;

int main(int argc, char **argv) {
    int private[4] = {0, 1, 2, 3};
    int given[4] = {0, 1, 2, 3};
    int kept = 1;
    char text[8] = "abc";
    heap = malloc(4 * sizeof *heap);
    if (!heap)
        return 1;
    memset(heap, 0, 4 * sizeof *heap);
    int *first = allocate(2);
    format("%p %d", given, 4, &kept);
    outside(argc);
    int sum = private[private[2]];
    sum += private[hidden];
    sum += private[given[1]];              // written through the variable arguments
    chosen = 9;
    outside(2);
    chosen = 1;
    sum += private[kept];                  // written by a later call
    sum += private[listed];                // written through `lists`
    sum += tables[inner.size - 1];         // through `lists.next`
    sum += inner.items[0];
    sum += private[opened];                // written by `begin`
    heap[0] = 1;                           // freed by `shut`
    sum += inside(private);
    char *found = within(text);
    *found = 1;                            // may be null
    text[3] = 1;
    sum += private[text[1] & 3];
    int *made = make();
    *made = 3;
    sum += *first;
    sum += private[*first];                // not reachable before `again` runs, but `newest` is another object then
    sum += private[*newest];               // set by `again`
    sum += recursive(argc & 1);
    (void)argv;
    return sum & 1;
}
