// Options, then files, of any number and length: getopt permutes them.
// run: --check address,null => TRUE
#include "../verify.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int option, is_verbose = 0, is_long = 0;
    while ((option = getopt(argc, argv, "vl")) != -1) {
        switch (option) {
        case 'v':
            is_verbose = 1;
            break;
        case 'l':
            is_long = 1;
            break;
        default:
            fprintf(stderr, "usage: %s [-v] [-l] FILE...\n", argv[0]);
            return 2;
        }
    }
    for (int i = optind; i < argc; i++)
        if (is_verbose || strlen(argv[i]) > 20)
            puts(is_long ? argv[i] : "file");
    return 0;
}
