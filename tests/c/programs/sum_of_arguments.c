// run: => TRUE
// Numbers and letters of any number of arguments.
#include <stdio.h>
#include <stdlib.h>
#include <ctype.h>
int main(int argc, char **argv) {
    unsigned long sum = 0;
    int letters = 0;
    for (int i = 1; i < argc; i++) {
        char *end;
        long value = strtol(argv[i], &end, 10);
        if (end != argv[i] && *end == 0)
            sum += value;
        for (const char *c = argv[i]; *c; c++)
            if (isalpha((unsigned char)*c) && letters < 1000)
                letters++;
    }
    printf("%lu %d\n", sum, letters);
    return 0;
}
