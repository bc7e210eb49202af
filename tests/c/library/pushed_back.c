// run: --check address -DCOUNT=8 => TRUE
// run: --check address -DCOUNT=9 => UNKNOWN
// Characters that are pushed back. More than eight are not modelled: then any may follow.
#include "../verify.h"
#include <stdio.h>

int main(void) {
    int table[1] = {0};
    for (int i = 0; i < COUNT; i++)
        ungetc('\1', stdin);
    int c = 0;
    for (int i = 0; i < COUNT; i++)
        c = getc(stdin);
    return COUNT > 8 ? table[c == 2] : table[c != 1];
}
