// Arguments and uninitialised values are chosen so that the program does not end.
// run: -DARGUMENTS --property termination => FALSE(termination)
// run: -DARGUMENTS -DRIGHT --property termination => TRUE
// run: -DUNSET --property termination => FALSE(termination)
// run: -DUNSET -DRIGHT --property termination => TRUE
#include "../verify.h"

void wait(void) {
    while (1) // wrong
        ;
}

int main(int argc, char **argv) {
#ifdef ARGUMENTS
#ifdef RIGHT
    if (argc < 0)
        wait();
#else
    if (argc >= 3)
        wait();
#endif
#else
    int i;
    for (int k = 0; k < 10; k++)
        ;
#ifdef RIGHT
    while (i > 0)
        i--;
#else
    while (i > 0) // wrong
        ;
#endif
#endif
    return 0;
}
