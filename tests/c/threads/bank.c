// run: --check deadlock => FALSE(deadlock)
// run: --check deadlock -DORDERED => TRUE
// run: --property unreach-call => TRUE
// Two transfers lock two accounts, in different orders.
#include "../verify.h"
#include <pthread.h>

struct account {
    pthread_mutex_t mutex;
    int balance;
};
static struct account accounts[2] = {{PTHREAD_MUTEX_INITIALIZER, 10}, {PTHREAD_MUTEX_INITIALIZER, 20}};

static void transfer(struct account *from, struct account *to, int amount) {
    struct account *one = from, *other = to;
#ifdef ORDERED
    if (to < from) {
        one = to;
        other = from;
    }
#endif
    pthread_mutex_lock(&one->mutex); // wrong
    pthread_mutex_lock(&other->mutex); // wrong
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&other->mutex);
    pthread_mutex_unlock(&one->mutex);
}

static void *there(void *unused) {
    transfer(&accounts[0], &accounts[1], 5);
    return unused;
}

static void *back(void *unused) {
    transfer(&accounts[1], &accounts[0], 7);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, NULL, there, NULL);
    pthread_create(&second, NULL, back, NULL);
    pthread_join(first, NULL); // wrong
    pthread_join(second, NULL); // wrong
    if (accounts[0].balance != 12 || accounts[1].balance != 18)
        reach_error();
    return 0;
}
