// A program has a name, unless it may be started without arguments.
// run: --check address => TRUE
// run: --check address --argc-may-be-zero => FALSE(address)
#include "../verify.h"
#include <string.h>

int main(int argc, char **argv) {
    const char *name = strrchr(argv[0], '/'); // wrong, without a name
    name = name ? name + 1 : argv[0];
    return name[0] == '-' && argc > 1;
}
