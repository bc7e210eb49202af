// Options, then files, of any number and length: getopt permutes them. With BUG, the null after them is taken for one more.
// run: --check address,null => TRUE
// run: --check address --first -DBUG => FALSE(address)
// run: --check address,null -DARGUMENT => TRUE
#include "../verify.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef ARGUMENT
#define OPTIONS "vl:"
#else
#define OPTIONS "vl"
#endif

#ifdef BUG
#define LAST <=
#else
#define LAST <
#endif

int main(int argc, char **argv) {
    int option, is_verbose = 0, is_long = 0;
    while ((option = getopt(argc, argv, OPTIONS)) != -1) {
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
    for (int i = optind; i LAST argc; i++)
        if (is_verbose || strlen(argv[i]) > 20) // wrong with BUG
            puts(is_long ? argv[i] : "file");
    return 0;
}
