// run: --property unreach-call => FALSE(unreach-call)
// run: --property valid-deref -DINDEX => FALSE(valid-deref)
// run: --property unreach-call -DEND => TRUE
// native: unseen
//
// The stack of a process may reach up to the end of its address space.

#include <stdint.h>

#include "../verify.h"

static char table[0x7fff];

int main(void) {
    int object = 0;
    uintptr_t high = (uintptr_t)&object >> 32;
#ifdef INDEX
    return table[high & 0x7fff]; // wrong
#elif defined END
    assert(high <= 0x7fff);
#else
    assert(high < 0x7fff); // wrong
#endif
}
