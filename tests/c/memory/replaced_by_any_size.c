// run: => TRUE
// The new object may have any size, so its allocation may fail.
#include <stdlib.h>
#include "../verify.h"

int main(void) {
    size_t room = __VERIFIER_nondet_ulong();
    char *text = malloc(16);
    while (__VERIFIER_nondet_int()) {
        char *other = malloc(room);
        if (!other) {
            free(text);
            return 1;
        }
        free(text);
        text = other;
    }
    free(text);
    return 0;
}
