// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DBUG=1 => FALSE(valid-deref)
// run: --property valid-memsafety -DBUG=2 => FALSE(valid-deref)
// native: unseen
// The life of a variable-length array ends with its scope, and so does that of memory from `alloca` in this scope; other memory of `alloca` lives as long as
// its function. Sanitizers do not detect this.
#include <alloca.h>

#ifndef BUG
#define BUG 0
#endif

int main(void) {
    int sum = 0, *kept = &sum;
    int *longer = alloca(sizeof *longer), *shorter = longer;
    for (int i = 1; i < 3; i++) {
        int variable[i];
        if (i == 1) {
            shorter = alloca(sizeof *shorter);
            *shorter = 1;
            continue;
        }
        kept = variable;
        kept[i - 1] = *longer = i;
    }
    sum += *longer;
    if (BUG == 1)
        sum += *kept; // wrong
    if (BUG == 2)
        *shorter = 1; // wrong
    return sum;
}
