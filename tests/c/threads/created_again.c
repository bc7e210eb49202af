// run: --property no-data-race => TRUE
// run: --property no-data-race -DTWO => FALSE(no-data-race)
// run: --property no-data-race -DFEWER -DFEW => FALSE(no-data-race)
// run: --property no-data-race -DSTALE => FALSE(no-data-race)
// Calls that create a thread in each iteration of a loop. The thread is joined in the same iteration, or in a second loop.
#include <pthread.h>
#include <stdio.h>

static int x, y, z;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_t ids[4];

static void *add(void *unused) {
    x++; // wrong
    return unused;
}

static void *add_locked(void *unused) {
    pthread_mutex_lock(&mutex);
    y++; // wrong
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *set(void *unused) {
    z = 1; // wrong
    return unused;
}

int main(void) {
    pthread_t id;
#ifdef STALE
    pthread_create(&id, NULL, set, NULL);
#endif
#ifdef FEW
    for (int i = 0; i < 2; i++) {
#else
    for (int i = 0; i < 1000; i++) {
#endif
        pthread_create(&id, NULL, add, NULL);
#ifdef TWO
        // The identifier of the first thread is lost.
        pthread_create(&id, NULL, add, NULL);
#endif
        pthread_join(id, NULL);
        x++; // wrong
#ifdef STALE
        z = 2; // wrong
        break;
#endif
    }
    for (int i = 0; i < 4; i++)
        pthread_create(&ids[i], NULL, add_locked, NULL);
#ifdef FEWER
    for (int i = 0; i < 3; i++)
#else
    for (int i = 0; i < 4; i++)
#endif
        pthread_join(ids[i], NULL);
    printf("%d %d\n", x, y); // wrong
    return 0;
}
