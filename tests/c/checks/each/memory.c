// run: --check memory => TRUE
// run: --check memory -DAT=EDGE => TRUE
// run: --check memory -DAT=BEYOND => FALSE(memory)
#include "edge.h"

int main(void) {
    int numbers[10];
    int last = between(1, 9);
    for (int i = 0; i <= last; i++)
        numbers[i] = i;
    // The next element is not initialised, unless `last` is the last of all.
    int seen = between(0, at(1, last, last < 9 ? last + 1 : last));
    if (numbers[seen] == 7) // wrong
        return 1;
    return 0;
}
