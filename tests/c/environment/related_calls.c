// Results of the environment depend on earlier results: numbers after a seed, descriptors of open files, offsets, constants.
// run: -DCASE=0 => TRUE
// run: -DCASE=0 -DBUG => FALSE(unreach-call)
// run: -DCASE=1 => TRUE
// run: -DCASE=2 => TRUE
// run: -DCASE=2 -DBUG => FALSE(unreach-call)
// run: -DCASE=3 => TRUE
// run: -DCASE=3 -DBUG => FALSE(unreach-call)
// run: -DCASE=4 => TRUE
// run: -DCASE=4 -DBUG => FALSE(unreach-call)
// run: -DCASE=5 => TRUE
// run: -DCASE=5 -DBUG => FALSE(unreach-call)
// run: -DCASE=6 => TRUE
// run: -DCASE=6 -DBUG => FALSE(unreach-call)
// run: -DCASE=7 => TRUE
// run: -DCASE=7 -DBUG => FALSE(unreach-call)
#define _GNU_SOURCE
#include "../verify.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int main(void) {
#if CASE == 0
    srand(5);
    int a = rand(), b;
    srand(5);
    check(rand() == a);
    srand(6);
    b = rand();
    wrong(a != 7 || b != 9);
#elif CASE == 1
    unsigned s = 3, t = 3;
    check(rand_r(&s) == rand_r(&t));
    srand48(4);
    double x = drand48();
    srand48(4);
    check(drand48() == x);
#elif CASE == 2
    int a = dup(1), b = dup2(1, 7);
    check(a < 0 || a > 2);
    check(b == 7 || b == -1);
    wrong(a != 12 || b != 7);
#elif CASE == 3
    int file = open("a", O_RDONLY);
    if (file < 0)
        return 0;
    long at = lseek(file, 10, SEEK_SET);
    check(at == 10 || at == -1);
    if (at == 10)
        check(lseek(file, 0, SEEK_CUR) == 10);
    wrong(lseek(file, 0, SEEK_END) != 77);
#elif CASE == 4
    check(sysconf(_SC_NPROCESSORS_ONLN) >= 1 && sysconf(_SC_OPEN_MAX) == sysconf(_SC_OPEN_MAX));
    wrong(sysconf(_SC_NPROCESSORS_ONLN) != 3);
#elif CASE == 5
    char *name = ttyname(0);
    if (name)
        check(name[0] != 0);
    wrong(!name || name[1] != 'x' || name[2]);
#elif CASE == 6
    FILE *a = fopen("a", "r"), *b = fopen("a", "r");
    if (!a || !b)
        return 0;
    check(a != b && fileno(a) != fileno(b));
    wrong(fileno(a) != 5 || fileno(b) != 9);
#else
    // The least free descriptor.
    int file = open("a", O_RDONLY), pair[2];
    if (file < 0 || close(file) != 0 || pipe(pair) != 0)
        return 0;
    check(pair[0] == file && pair[1] > file && read(-1, pair, 1) == -1);
    struct timespec before, now;
    check(clock_gettime(CLOCK_MONOTONIC, &before) == 0 && clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    check(now.tv_sec >= before.tv_sec);
    wrong(pair[1] != 11 || now.tv_sec != 99);
#endif
    return 0;
}
