// run: --property no-data-race => FALSE(no-data-race)
// run: --property no-data-race -DLONG => FALSE(no-data-race)
// run: --property no-data-race -DAPART => TRUE
// run: --property no-data-race -DLONG -DAPART => TRUE
// run: --property unreach-call => FALSE(unreach-call)
// run: --property unreach-call -DAPART => TRUE
// An access to many bytes conflicts with one to any of them.
#include <pthread.h>
#include <string.h>
extern void reach_error(void);

#define SIZE 20000
static char shared[2 * SIZE];

#ifdef APART
#define OFFSET SIZE
#else
#define OFFSET 0
#endif

static void *write_all(void *unused) {
    memset(shared, 1, SIZE); // wrong
    return unused;
}

int main(void) {
    pthread_t thread;
    char copy[SIZE];
    pthread_create(&thread, 0, write_all, 0);
#ifdef LONG
    memcpy(copy, shared + OFFSET, SIZE);
    char seen = copy[SIZE - 1];
#else
    char seen = shared[OFFSET + SIZE - 1];
#endif
    if (seen)
        reach_error(); // wrong
    pthread_join(thread, 0);
    return 0;
}
