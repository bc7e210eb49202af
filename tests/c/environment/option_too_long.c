// The argument of an option does not fit into its buffer.
// run: --property valid-deref => FALSE(valid-deref)
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char name[4] = "me";
    int verbose = 0, count = 1, option;
    while ((option = getopt(argc, argv, "vn:c:h")) != -1) {
        switch (option) {
        case 'v':
            verbose++;
            break;
        case 'n':
            strcpy(name, optarg); // wrong
            break;
        case 'c':
            count = atoi(optarg);
            break;
        default:
            fprintf(stderr, "usage: %s [-v] [-n NAME] [-c COUNT]\n", argv[0]);
            return option == 'h' ? 0 : 2;
        }
    }
    for (int i = 0; i < count; i++)
        printf("%s%s\n", verbose ? "hello " : "", name);
    return 0;
}
