// Attributes that set other names, definitions, or places of symbols.
#include "../verify.h"

int v = 1;
extern int alias_of_v __attribute__((alias("v")));
static int seven(void) { return 7; }
int other_seven(void) __attribute__((alias("seven")));
int target(void) { return 8; }
static int reference(void) __attribute__((weakref("target")));
static int nothing(void) __attribute__((weakref("nowhere")));
extern int absent __attribute__((weak));
int common __attribute__((common));
int common;
__attribute__((section("own"), retain, used)) static int kept = 2;
static __thread int local __attribute__((tls_model("local-exec"))) = 4;
__attribute__((visibility("hidden"))) int hidden = 6;

static void count(int *n) { v += *n; }

static int order;
__attribute__((constructor(200))) static void later(void) {
    check(order == 1);
    order = 2;
}
__attribute__((constructor(101))) static void sooner(void) {
    check(order == 0);
    order = 1;
}

int main(void) {
    alias_of_v = 5;
    check(v == 5 && order == 2);
    check(other_seven() == 7);
    check(reference && reference() == 8 && !nothing && !&absent);
    check(common == 0 && kept == 2 && local == 4 && hidden == 6);
    {
        int n __attribute__((cleanup(count))) = 1;
        n = __VERIFIER_nondet_int() & 7;
    }
    wrong(v != 12);
    return 0;
}
