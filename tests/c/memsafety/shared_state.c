// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DBUG => FALSE(valid-deref)
// A mutex and rounding modes belong to the library: only library functions read the values that library functions write.
#include "../verify.h"
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static void deposit(struct account *account, int amount) {
    pthread_mutex_lock(&account->lock);
    account->balance += amount; // wrong
    pthread_mutex_unlock(&account->lock);
}

int main(void) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    struct account *account = malloc(sizeof *account);
    account->balance = 0;
    pthread_mutex_init(&account->lock, &attributes);
    for (int i = 0; i < 3; i++)
        deposit(account, i);
    if (pthread_mutex_destroy(&account->lock) != 0)
        abort();
    fenv_t environment;
    fegetenv(&environment);
    fesetenv(&environment);
#ifdef BUG
    free(account);
    account = malloc(sizeof(pthread_mutex_t));
    pthread_mutex_init(&account->lock, &attributes);
    deposit(account, 3);
#endif
    free(account);
    return 0;
}
