// run: --property no-data-race => TRUE
// run: --property no-data-race -DOUTSIDE => FALSE(no-data-race)
// run: --property no-data-race -DCALLED => FALSE(no-data-race)
// native: unseen
// Atomic blocks of tasks, with more interleavings than can be explored.
#include "../verify.h"
#include <pthread.h>
#include <string.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
static int i = 1, j = 1;
static char text[8];

static void *add(void *unused) {
    for (int k = 0; k < 20; k++) {
        __VERIFIER_atomic_begin();
        i += j; // wrong
        strcpy(text, "ab"); // wrong
        __VERIFIER_atomic_end();
    }
    return unused;
}

static void __VERIFIER_atomic_add(void) { j += i; } // wrong

static void *add_other(void *unused) {
    for (int k = 0; k < 20; k++)
        __VERIFIER_atomic_add();
#ifdef OUTSIDE
    j++; // wrong
#endif
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&other, NULL, add_other, NULL);
#ifdef CALLED
    text[0] = 'c'; // wrong
#endif
    __VERIFIER_atomic_begin();
    int is_large = i >= 377;
    __VERIFIER_atomic_end();
    return is_large;
}
