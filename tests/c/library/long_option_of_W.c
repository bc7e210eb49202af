// run: -DPART=1 => TRUE
// run: -DPART=2 => TRUE
// run: -DPART=3 => TRUE
// run: -DPART=4 => TRUE
// run: -DPART=5 => TRUE
// run: -DPART=1 -DWRONG=optind==3 => FALSE(unreach-call)
// The GNU library takes the argument of -W for a long option, if the options contain "W;".
#include "../verify.h"
#include <getopt.h>
#include <string.h>

#ifndef WRONG
#define WRONG 0
#endif

int main(void) {
    struct option all[] = {{"name", required_argument, NULL, 'n'}, {"quick", no_argument, NULL, 'q'}, {NULL, 0, NULL, 0}};
    int index = -1;
#if PART == 1
    char *argv[] = {"program", "-W", "quick", "file", NULL};
    check(getopt_long(4, argv, "vW;", all, &index) == 'q' && index == 1 && optind == 3 && !optarg);
    check(!(WRONG)); // wrong
    check(getopt_long(4, argv, "vW;", all, &index) == -1 && optind == 3);
#elif PART == 2
    char *argv[] = {"program", "-vWname=x", "file", NULL};
    check(getopt_long(3, argv, "vW;", all, &index) == 'v' && optind == 1);
    check(getopt_long(3, argv, "vW;", all, &index) == 'n' && index == 0 && optind == 2 && strcmp(optarg, "x") == 0);
#elif PART == 3
    char *argv[] = {"program", "-W", NULL};
    opterr = 0;
    check(getopt_long(2, argv, "vW;", all, &index) == '?' && optopt == 'W' && optind == 2);
#elif PART == 4
    char *argv[] = {"program", "-Wslow", NULL};
    opterr = 0;
    check(getopt_long(2, argv, "vW;", all, &index) == '?' && optind == 2);
#else
    char *argv[] = {"program", "-W", "quick", NULL};
    check(getopt(3, argv, "vW;") == 'W' && optind == 2);
#endif
    return 0;
}
