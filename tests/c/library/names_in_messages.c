// The C library reads the name of the program only for its messages. A program that sets it meets no approximation.
#define _GNU_SOURCE
#include "../verify.h"
#include <errno.h>

int main(int argc, char **argv) {
    program_invocation_name = program_invocation_short_name = argv[0];
    check(argc > 0);
    wrong(argc < 3);
    return 0;
}
