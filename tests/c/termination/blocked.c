// An assumption that does not hold at last is no execution without end, also where a library model makes it.
// run: --property termination --timeout 3 => UNKNOWN
#include "../verify.h"

void klee_assume(unsigned long condition);

int main(void) {
    unsigned long x = 1;
    // All values come, 42 among them.
    while (1) {
        x = x * 6364136223846793005UL + 1442695040888963407UL;
        klee_assume(x != 42);
    }
    return 0;
}
