// run: --check address => FALSE(address)
// run: --check address -DJOINED => TRUE
// If the first thread ends by pthread_exit, the lifetimes of its variables end, and other threads continue.
#include <pthread.h>

static void *work(void *argument) {
    *(int *)argument = 1; // wrong
    return NULL;
}

int main(void) {
    pthread_t thread;
    int x = 0;
    pthread_create(&thread, NULL, work, &x);
#ifdef JOINED
    pthread_join(thread, NULL);
#endif
    pthread_exit(NULL);
}
