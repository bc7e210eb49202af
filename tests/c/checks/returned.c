// run: --check return => TRUE
// run: --check return -DBUG=1 => FALSE(return)
// run: --check return -DBUG=2 => FALSE(return)
// run: --check return -DBUG=3 => FALSE(return)
// run: --check return -DBUG=4 => FALSE(return)
// run: --check return -DBUG=5 => FALSE(return)
// native: c++
// Functions that may end without a result: a struct in registers, one in memory, one that is copied first, a call through a pointer, and a function whose
// own result is fine.
#include "../verify.h"

#ifndef BUG
#define BUG 0
#endif

struct pair {
    int first, second;
};
struct three {
    int a, b, c;
};
struct large {
    int numbers[20];
};

static struct pair pair(int n) {
    struct pair p;
    p.first = n;
    p.second = 1;
    if (n)
        return p;
}

static struct three three(int n) {
    struct three t = {n, n, n};
    if (n > 1)
        return t;
    else if (n == 1)
        return (struct three){1, 2, 3};
}

static struct large large(int n) {
    struct large l;
    l.numbers[3] = n;
    if (n)
        return l;
}

static int positive(int n) {
    while (n > 0) {
        if (n == 7)
            return 1;
        n--;
        if (n == 2)
            return 0;
    }
}

static int (*chosen)(int) = positive;

// This function calls such a function without using the result, and always returns a value itself.
static int other(int n) {
    positive(n);
    pair(n);
    large(n);
    three(n);
    return n;
}

// A single return: its predecessors have names.
static int one(int n) {
    int result = n + 1;
    return result;
}

int main(void) {
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n >= 0 && n < 10);
    int sum = other(n) + one(n);
    if (n || BUG == 1)
        sum += pair(n).first; // wrong
    if (n || BUG == 2) {
        struct large l = large(n); // wrong
        sum += l.numbers[3];
    }
    if (n || BUG == 3) {
        struct three t;
        t = three(n); // wrong
        sum += t.b;
    }
    if (n > 2 || BUG == 4)
        sum += positive(n); // wrong
    chosen(n);
    if (n > 2 || BUG == 5)
        sum += chosen(n); // wrong
    return sum == 5;
}
