// run: => TRUE
// run: --check address -DCOUNT=101 => FALSE(address)
// Sorts 100 bytes of the input with qsort.
#include <stdio.h>
#include <stdlib.h>
#ifndef COUNT
#define COUNT 100
#endif

static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b; // wrong
    return (x > y) - (x < y);
}

int main(void) {
    int bytes[100];
    for (int i = 0; i < 100; i++)
        bytes[i] = getchar();
    qsort(bytes, COUNT, sizeof bytes[0], compare);
    return bytes[50] > 0;
}
