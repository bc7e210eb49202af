#include "../verify.h"
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc != 3 || strcmp(argv[1], "-n") != 0)
        return 1;
    check(argv[argc] == 0);
    check(argv[1][2] == 0);
    wrong(strlen(argv[2]) != 2 || argv[2][0] != '7' || argv[2][1] == '7');
    return 0;
}
