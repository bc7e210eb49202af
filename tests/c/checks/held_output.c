// The pre-analysis proves checks after calls that print: their formats are constants without conversions that the models lack.
// run: --check address,shift,bounds => TRUE
// run: --check address,shift,bounds -DBEYOND=1 => FALSE(address)
// run: --check address,shift,bounds -DBY=32 => FALSE(shift)
#include "../verify.h"
#include <stdio.h>
#ifndef BEYOND
#define BEYOND 0
#endif
#ifndef BY
#define BY 31
#endif

static unsigned table[4] = {1, 2, 3, 4};

int main(void) {
    char text[40];
    int number = __VERIFIER_nondet_int();
    snprintf(text, sizeof text, "%d", number);
    printf("%s and %x\n", text, (unsigned)number);
    unsigned sum = 0;
    for (unsigned i = 0; i < 4 + BEYOND; i++)
        sum += table[i]; // wrong
    sum += 1u << (BY - (number & 15)); // wrong
    return sum == 7;
}
