// run: --check address => FALSE(address)
// The object that is freed is the older one of its site, of which there is another pointer.
#include <stdlib.h>
#include "../verify.h"

int main(void) {
    char *text = malloc(16), *kept = text;
    if (!text)
        return 1;
    for (int i = 0; i < 3 && __VERIFIER_nondet_int(); i++) {
        char *other = malloc(16);
        if (!other)
            return 1;
        free(text);
        kept = text;
        text = other;
    }
    kept[3] = 0; // wrong
    free(text);
    return 0;
}
