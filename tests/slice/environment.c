// options: --read-back
// Values from the environment depend on earlier calls: random numbers, variables, files, locks.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void criterion(int place, long value);

static int counter;

int main(void) {
    srand(7);
    int first = rand();
    int second = rand();
    criterion(1, second);
    setenv("PROVISO_EXAMPLE", "xyz", 1);
    const char *found = getenv("PROVISO_EXAMPLE");
    criterion(2, found ? strlen(found) : -1);
    FILE *file = tmpfile();
    if (file) {
        char line[32];
        fprintf(file, "%d apples\n", first % 10 + 5);
        fputs("pears\n", file);
        rewind(file);
        if (fgets(line, sizeof line, file))
            criterion(3, strlen(line));
        if (fgets(line, sizeof line, file))
            criterion(4, line[0]);
        fclose(file);
    }
    pthread_mutexattr_t kind;
    pthread_mutex_t lock;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &kind);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        if (pthread_mutex_lock(&lock) == 0) {
            counter += i;
            pthread_mutex_unlock(&lock);
        }
        pthread_mutex_unlock(&lock);
    }
    criterion(5, counter);
    srand(8);
    criterion(6, rand() == second);
    return 0;
}
