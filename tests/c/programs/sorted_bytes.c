// run: => TRUE
// run: --check address -DLIMIT=101 => FALSE(address)
// Sorts up to 100 bytes of the input with qsort.
#include <stdio.h>
#include <stdlib.h>
#ifndef LIMIT
#define LIMIT 100
#endif

static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int main(void) {
    int bytes[100];
    int n = 0;
    while (n < LIMIT && (bytes[n] = getchar()) != EOF) // wrong
        n++;
    qsort(bytes, n, sizeof bytes[0], compare);
    if (n > 0)
        printf("median %d\n", bytes[n / 2]);
    return 0;
}
