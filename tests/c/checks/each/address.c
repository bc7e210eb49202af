// run: --check address => TRUE
// run: --check address -DAT=EDGE => TRUE
// run: --check address -DAT=BEYOND => FALSE(address)
#include "edge.h"
#include <stdlib.h>

int main(void) {
    int last = between(1, at(5, 9, 10));
    int *numbers = malloc(10 * sizeof *numbers);
    if (!numbers)
        return 0;
    for (int i = 0; i <= last; i++)
        numbers[i] = i; // wrong
    int sum = numbers[0] + numbers[last];
    free(numbers);
    return sum == 11;
}
