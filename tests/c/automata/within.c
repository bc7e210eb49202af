// run: --automaton heap --entry clear => UNKNOWN
// run: --automaton spinlock --entry change => TRUE
// run: --automaton spinlock --entry change -DAGAIN => FALSE(spinlock)
// run: --automaton spinlock --entry leave => UNKNOWN
// native: unseen
// The state before the function is called is unknown: its argument may have been allocated, and a lock may be locked.
#include <stdlib.h>

typedef struct {
    int raw;
} spinlock_t;

void spin_lock(spinlock_t *lock);
void spin_unlock(spinlock_t *lock);

struct text {
    spinlock_t lock;
    char *start;
};

void change(struct text *text) {
    spin_lock(&text->lock);
    text->start = NULL;
#ifdef AGAIN
    spin_lock(&text->lock); // wrong
#endif
    spin_unlock(&text->lock);
}

void leave(struct text *text) {
    spin_unlock(&text->lock);
}

void clear(struct text *text) {
    free(text->start);
    text->start = NULL;
}
