// run: --property valid-deref -DLATE => TRUE
// run: --property valid-deref => FALSE(valid-deref)
// One thread frees what another still reads, through structures on the stack of the one that starts both.
#include "../verify.h"
#include <pthread.h>
#include <stdlib.h>

struct shared {
    int *number;
    int done;
};

struct task {
    struct shared *shared;
    int times;
};

static void *reads(void *argument) {
    struct task *task = argument;
    for (int i = 0; i < task->times; i++)
        task->shared->done += *task->shared->number; // wrong
    return NULL;
}

int main(void) {
    struct shared shared = {malloc(sizeof(int)), 0};
    struct task task = {&shared, 2};
    pthread_t reader;
    *shared.number = 1;
    pthread_create(&reader, NULL, reads, &task);
#ifndef LATE
    if (shared.done == 1)
        free(shared.number);
#endif
    pthread_join(reader, NULL);
#ifdef LATE
    free(shared.number);
#endif
    return 0;
}
