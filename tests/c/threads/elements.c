// run: --property no-data-race => TRUE
// run: --property no-data-race -DNEXT => FALSE(no-data-race)
// run: --property no-data-race -DSAME => FALSE(no-data-race)
// run: --property no-data-race -DEARLY => FALSE(no-data-race)
// run: --property no-data-race -DTWICE => FALSE(no-data-race)
// Each thread of a loop has its own element of an array. The input bounds no number of threads that the proof covers.
#include "../verify.h"
#include <pthread.h>

enum { MOST = 50 };
struct part {
    int from, to, sum;
};
static struct part parts[MOST + 1];

static void *work(void *argument) {
    struct part *part = argument;
#ifdef NEXT
    part++;
#endif
    for (int i = part->from; i < part->to; i++) // wrong
        part->sum += i; // wrong
#ifdef NEXT
    part[-1].sum = 1; // wrong
#endif
    return argument;
}

static int run(int count) {
    pthread_t threads[MOST];
    int sum = 0;
    for (int i = 0; i < count; i++)
        parts[i].to = parts[i].from + 1; // wrong
    for (int i = 0; i < count; i++)
#ifdef SAME
        pthread_create(&threads[i], NULL, work, &parts[0]);
#else
        pthread_create(&threads[i], NULL, work, &parts[i]);
#endif
#ifdef EARLY
    sum += parts[0].sum; // wrong
#endif
#ifdef TWICE
    return 0;
#endif
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < count; i++)
        sum += parts[i].sum;
    return sum;
}

int main(void) {
    int count = __VERIFIER_nondet_int();
    if (count < 0 || count > MOST)
        return 1;
#ifdef TWICE
    run(count);
#endif
    return run(count);
}
