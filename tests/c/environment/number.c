// The number that an argument denotes.
#include "../verify.h"
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc < 2)
        return 1;
    int number = atoi(argv[1]);
    wrong(number <= 1000 || number != 1234);
    return 0;
}
