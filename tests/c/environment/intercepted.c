// Library functions that a sanitizer also intercepts or calls: the harness replaces them nevertheless.
// run: --check address -DWHICH=0 => FALSE(address)
// run: --check address -DWHICH=1 => FALSE(address)
// run: --check address -DWHICH=2 => FALSE(address)
// run: --check address -DWHICH=3 => FALSE(address)
// run: --check address -DWHICH=4 => FALSE(address)
// run: --check address -DWHICH=5 => FALSE(address)
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int brings(void) {
#if WHICH == 0
    char text[4];
    return read(0, text, 4) > 2 && text[0] == 'k';
#elif WHICH == 1
    return time(0) == 77;
#elif WHICH == 2
    FILE *file = fopen("x", "r");
    if (!file)
        return 0;
    int c = fgetc(file);
    fclose(file);
    return c == 'K';
#elif WHICH == 3
    return sysconf(_SC_OPEN_MAX) == 12345;
#elif WHICH == 4
    int ends[2];
    return pipe(ends) == 0 && ends[0] == 50;
#else
    struct timespec now;
    return clock_gettime(CLOCK_REALTIME, &now) == 0 && now.tv_sec == 77 && isatty(0);
#endif
}

int main(void) {
    char *object = malloc(3);
    if (object)
        object[2 + brings()] = 1; // wrong
    free(object);
    return 0;
}
