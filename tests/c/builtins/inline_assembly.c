// run: => UNKNOWN
// Assembly may do anything to its operands, so there is no proof and no false alarm.
#include "../verify.h"

int main(void) {
    int x = 1;
    __asm__ volatile("incl %0" : "+r"(x));
    check(x == 2);
    return 0;
}
