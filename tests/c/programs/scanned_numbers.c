// run: => TRUE
// run: --check address -DMOST=6 => FALSE(address)
// Reads numbers until the input ends or the array is full.
#include <stdio.h>

#ifndef MOST
#define MOST 5
#endif

int main(void) {
    int numbers[5], n = 0, odd = 0;
    while (n < MOST && scanf("%d", &numbers[n]) == 1) // wrong
        n++;
    for (int i = 0; i < n; i++)
        odd += numbers[i] & 1; // wrong
    return odd > 3;
}
