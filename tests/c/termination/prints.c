// run: --property termination => FALSE(termination)
// run: --property termination -DENDS => TRUE
// Loops that print and query the time: assumptions of library models about the environment do not end the program.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(void) {
    srand((unsigned)time(NULL));
    puts("starts");
    int i = 0;
    while (i >= 0) { // wrong
        printf("%d of %s\n", i, "256");
        i = (i + 1) % 256;
#ifdef ENDS
        if (i == 10)
            break;
#endif
    }
    return 0;
}
