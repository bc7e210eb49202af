// run: => TRUE
// Any number of arguments, each of any length.
#include <string.h>

static int is_help(const char *argument) {
    return strcmp(argument, "--help") == 0 || strncmp(argument, "-h", 2) == 0;
}

int main(int argc, char **argv) {
    int help = 0, dashes = 0;
    for (int i = 1; i < argc; i++) {
        if (is_help(argv[i]))
            help++;
        for (const char *p = argv[i]; *p; p++)
            if (*p == '-' && dashes < 100)
                dashes++;
    }
    return help > 0 || dashes > 2;
}
