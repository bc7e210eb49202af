// run: => TRUE
// run: --check address -DSIZE=3 -DCOUNT=4 => FALSE(address)
// Sorts bytes of the input with qsort.
#include <stdio.h>
#include <stdlib.h>
#ifndef COUNT
#define SIZE 100
#define COUNT SIZE
#endif

static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b; // wrong
    return (x > y) - (x < y);
}

int main(void) {
    int bytes[SIZE];
    for (int i = 0; i < SIZE; i++)
        bytes[i] = getchar();
    qsort(bytes, COUNT, sizeof bytes[0], compare);
    return bytes[SIZE / 2] > 0;
}
