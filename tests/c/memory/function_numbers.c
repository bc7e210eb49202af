// run: --property unreach-call -DPART=1 => UNKNOWN
// run: --property unreach-call -DPART=2 => UNKNOWN
// run: --property unreach-call -DPART=3 => UNKNOWN
// run: --property unreach-call -DPART=4 => UNKNOWN
// run: --property valid-deref -DPART=5 => UNKNOWN
// run: --property unreach-call -DPART=6 => UNKNOWN
// run: --property unreach-call -DPART=0 => TRUE
// run: --property unreach-call -DPART=0 -DBUG => FALSE(unreach-call)
//
// The address of a function has no known size, order or alignment. Copies, calls and comparisons for equality need none.

#include <stdint.h>
#include <string.h>

#include "../verify.h"

static int calls;
static void once(void) { calls++; }
static void twice(void) { calls += 2; }

typedef void (*function)(void);
struct entry {
    function call;
    void *data;
};

int main(void) {
    function chosen = __VERIFIER_nondet_int() ? once : twice;
    uintptr_t number = (uintptr_t)chosen;
#if PART == 1
    assert(number < 0x10000000);
#elif PART == 2
    assert((int)number > 0);
#elif PART == 3
    number |= 1;
    ((function)(number & ~(uintptr_t)1))();
    assert(calls > 0);
#elif PART == 4
    assert((uintptr_t)once < (uintptr_t)twice);
#elif PART == 5
    // The address may have more bits than the number.
    unsigned narrow = (unsigned)number;
    ((function)(uintptr_t)narrow)();
#elif PART == 6
    // The same computation at two places, of which one is not executed.
    int chance = 0, low = 1;
    if (chance)
        low = (int)(uintptr_t)once;
    else
        low = (int)(uintptr_t)once;
    assert(low > 0);
#else
    struct entry table[2] = {{once, &calls}, {0}}, copy[2];
    memcpy(copy, table, sizeof table);
    table[1].call = (function)number;
    int offset = __VERIFIER_nondet_int() & 1;
    function *at = &table[0].call + 2 * offset;
    assert(*at == (offset ? chosen : once));
    copy[0].call();
    table[1].call();
    assert(copy[1].call == 0 && once != twice);
#ifdef BUG
    assert(calls == 2); // wrong
#else
    assert(calls == 2 || calls == 3);
#endif
#endif
}
