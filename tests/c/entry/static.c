// Execution may start at a static function.
// native: unseen
// run: --entry helper --property no-overflow => FALSE(no-overflow)
// run: --entry limited --property no-overflow => TRUE
#include "../verify.h"

static int helper(int x) {
    return x + 1; // wrong
}

static int limited(int x) {
    return x > 100 ? 100 : helper(x);
}

int call(int x) {
    return limited(x);
}
