#include "../verify.h"
#include <string.h>
#include <stdlib.h>

int main(void) {
    char buffer[16] = "";
    unsigned n = __VERIFIER_nondet_uchar() & 3;
    for (unsigned i = 0; i < n; i++)
        strcat(buffer, "ab");
    check(strlen(buffer) == 2 * n);
    strncpy(buffer, "xyz", 2);
    check(buffer[0] == 'x' && buffer[1] == 'y');
    char *copy = strdup(buffer);
    if (!copy)
        return 0;
    check(strcmp(copy, buffer) == 0);
    check(strspn("aabc", "ab") == 3 && strcspn("abc", "c") == 2);
    wrong(strlen(copy) != 6);
    free(copy);
    return 0;
}
