// An assumption that is false in the end is no infinite execution, even if a library model makes it.
// run: --property termination --timeout 3 => UNKNOWN
#include "../verify.h"

void klee_assume(unsigned long condition);

int main(void) {
    unsigned long x = 1;
    // All values occur, including 42.
    while (1) {
        x = x * 6364136223846793005UL + 1442695040888963407UL;
        klee_assume(x != 42);
    }
    return 0;
}
