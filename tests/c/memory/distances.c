// run: => TRUE
// run: --check address => TRUE
// run: -DBUG -DVARIABLE => FALSE(unreach-call)
// run: -DBUG -DVARIABLE --property unreach-call => FALSE(unreach-call)
// run: -DBUG -DINTEGERS => FALSE(unreach-call)
// run: -DBUG -DINTEGERS --slicing off => FALSE(unreach-call)
// run: -DBUG -DKEPT => FALSE(unreach-call)
// run: -DBUG -DKEPT --property unreach-call => FALSE(unreach-call)
// run: -DBUG -DCALLED --property unreach-call => FALSE(unreach-call)
// run: -DBUG -DCALLED -DOVERRUN --check address => FALSE(address)
// run: -DBUG -DCALLED -DOVERRUN --property valid-memsafety => FALSE(valid-deref)
// run: -DREMAINDER --property unreach-call => UNKNOWN
// run: -DFLOAT --property unreach-call => UNKNOWN
// run: -DHALVES --property unreach-call => UNKNOWN
// run: -DCOMPLEMENT --property unreach-call => UNKNOWN
// run: -DBUG -DCHECKED --property unreach-call => FALSE(unreach-call)
// run: -DBUG -DWIDE --property unreach-call => FALSE(unreach-call)
// run: -DBUG -DSHIFTED --property unreach-call => FALSE(unreach-call)
// run: -DBUG -DPRODUCT --property unreach-call => FALSE(unreach-call)
#include "../verify.h"

/* A pointer plus the distance to another object points to that object. */
extern void *malloc(unsigned long);
static int x, y;
static int cells[4];
struct entry {
    long handler;
};
static struct entry entry;
static int fails(int n) {
    int room[2] = {0, 0};
#ifdef OVERRUN
    return room[n + 1]; // wrong
#endif
    wrong(n != 1); // wrong
    return room[0];
}
static int holds(int n) {
    return n;
}
static long between(const char *from, const char *to) {
    return to - from;
}

int main(void) {
    int *one = malloc(sizeof *one);
    if (!one)
        return 0;
    *one = 7;
#if defined VARIABLE
    long far = (long)&y - (long)&x;
    *(int *)((char *)&x + far) = 5;
    wrong(y == 0); // wrong
#elif defined INTEGERS
    unsigned long at = (unsigned long)&x, far = (unsigned long)&y - (unsigned long)&x;
    at += far;
    *(int *)at = 5;
    wrong(y == 0); // wrong
#elif defined KEPT
    static long distances[2];
    distances[1] = between((char *)&x, (char *)one);
    *(int *)((char *)&x + distances[1]) = 8;
    wrong(*one == 7); // wrong
#elif defined REMAINDER
    long far = ((char *)&y - (char *)cells) % (1L << 40);
    *(int *)((char *)cells + far) = 5;
    check(y == 0);
#elif defined FLOAT
    double far = (double)((char *)&y - (char *)cells);
    *(int *)((char *)cells + (long)far) = 5;
    check(y == 0);
#elif defined HALVES
    int far = (int)(unsigned long)&y - (int)(unsigned long)cells;
    *(int *)((char *)cells + far) = 5;
    check(y == 0);
#elif defined COMPLEMENT
    long far = (long)&y + ~(long)cells + 1;
    *(int *)((char *)cells + far) = 5;
    check(y == 0);
#elif defined CHECKED
    unsigned long at;
    long far = (char *)&y - (char *)cells;
    if (!__builtin_add_overflow((unsigned long)cells, far, &at))
        *(int *)at = 5;
    wrong(y == 0); // wrong
#elif defined WIDE
    long far = (char *)&y - (char *)cells;
    __int128 at = (__int128)(unsigned long)cells + far;
    *(int *)(unsigned long)at = 5;
    wrong(y == 0); // wrong
#elif defined SHIFTED
    long far = (char *)&y - (char *)cells;
    unsigned long at = (((unsigned long)cells >> 2) + (far >> 2)) << 2;
    *(int *)at = 5;
    wrong(y == 0); // wrong
#elif defined PRODUCT
    long minus = one ? -1 : 0;
    long far = (long)&y + (long)cells * minus;
    *(int *)((char *)cells + far) = 5;
    wrong(y == 0); // wrong
#elif defined CALLED
    entry.handler = (long)fails - (long)&entry;
    int (*handler)(int) = (int (*)(int))((long)&entry + entry.handler);
    handler(1);
#else
    /* Within one object, nothing else changes. */
    long far = &cells[3] - cells;
    *(cells + far) = 3;
    entry.handler = (long)holds - (long)&entry;
    int (*handler)(int) = (int (*)(int))((long)&entry + entry.handler);
    check(handler(2) == 2);
    check(x == 0 && y == 0 && cells[3] == 3 && *one == 7);
#endif
    return 0;
}
