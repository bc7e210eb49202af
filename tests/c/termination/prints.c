// run: --property termination => FALSE(termination)
// run: --property termination -DENDS => TRUE
// Loops that print and ask for the time: what library models assume of the environment is no end of the program.
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
