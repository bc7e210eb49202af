// run: --entry counts => TRUE
// run: --entry counts --entry-globals => FALSE(unreach-call)
// native: no
// Global variables with arbitrary values: a harness cannot set them.
#include "../verify.h"

static int count;
static struct list {
    struct list *next;
    int value[3];
} head;
static struct list *last;

void counts(int x) {
    check(count == 0 && !head.next && !last || !(count == 5 && head.next->value[2] == 6 && last->value[0] == x)); // wrong
    count++;
}

int main(void) { return 0; }
