// A queue of messages, each with a text of any length. There is no violation.
// run: => TRUE
// run: --check address,undefined => TRUE
#include "../verify.h"
#include <stdlib.h>

struct message { int kind; struct message *next; char *text; };
struct queue { struct message *head, *tail; };

static void put(struct queue *q, int kind) {
    struct message *m = malloc(sizeof *m);
    m->kind = kind;
    m->next = NULL;
    m->text = malloc(8);
    m->text[0] = 0;
    if (q->tail)
        q->tail->next = m;
    else
        q->head = m;
    q->tail = m;
}

static struct message *take(struct queue *q) {
    struct message *m = q->head;
    if (m && !(q->head = m->next))
        q->tail = NULL;
    return m;
}

static void release(struct message *m) {
    free(m->text);
    free(m);
}

int main(void) {
    struct queue q = {0};
    struct message *m;
    while (__VERIFIER_nondet_int()) {
        if (__VERIFIER_nondet_int())
            put(&q, 1);
        else if ((m = take(&q))) {
            check(m->kind == 1);
            release(m);
        }
    }
    while ((m = take(&q)))
        release(m);
}
