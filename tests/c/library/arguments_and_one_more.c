// run: --check address => FALSE(address)
// The element behind the last argument is null.
#include <string.h>

int main(int argc, char **argv) {
    int help = 0;
    for (int i = 1; i <= argc; i++)
        if (strcmp(argv[i], "--help") == 0) // wrong
            help = 1;
    return help;
}
