// The program of the commands on `FILE.c`. It reads the environment, so that its tests are folders.
#include <stdio.h>
#include <string.h>

int FUNCTION(int x) { return x > 7 ? 1 : x == 3; }

void check(int value) { (void)value; }

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "-v") == 0)
        return FUNCTION(getchar());
    check(argc);
    return 0;
}
