// run: => TRUE
// An object is replaced by another one of the same site, which copies it, and then freed.
#include <stdlib.h>
#include "../verify.h"

int main(void) {
    char *text = malloc(16);
    if (!text)
        return 1;
    while (__VERIFIER_nondet_int()) {
        char *larger = realloc(text, 16);
        if (!larger) {
            free(text);
            return 1;
        }
        text = larger;
        text[5] = 1;
    }
    text[3] = 0;
    free(text);
    return 0;
}
