// run: --automaton mutex => TRUE
// run: --automaton mutex -DTWICE => FALSE(mutex)
// run: --automaton mutex -DLEFT => FALSE(mutex)
// run: --automaton mutex -DOTHER => FALSE(mutex)
// run: --automaton mutex -DDESTROYED => FALSE(mutex)
// native: unseen
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int balance;

static int withdraw(pthread_mutex_t *lock, int amount) {
    pthread_mutex_lock(lock);
#ifdef TWICE
    if (amount == 77)
        pthread_mutex_lock(lock); // wrong
#endif
#ifdef LEFT
    if (amount > balance)
        return 0;
#endif
    balance -= amount;
    pthread_mutex_unlock(lock);
    return 1;
}

int main(void) {
    pthread_mutex_t *which = __VERIFIER_nondet_int() ? &first : &second;
    int (*operation)(pthread_mutex_t *) = pthread_mutex_lock;
    for (int i = 0; i < 3; i++) {
        withdraw(&first, __VERIFIER_nondet_int());
        if (operation(which) == 0) { // with LEFT wrong
#ifdef OTHER
            pthread_mutex_unlock(&second); // wrong
#else
            pthread_mutex_unlock(which);
#endif
        }
    }
    pthread_mutex_destroy(&first);
#ifdef DESTROYED
    pthread_mutex_lock(&first); // wrong
#endif
    return 0;
}
