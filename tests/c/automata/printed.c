// run: --automaton file => FALSE(file)
// run: --automaton file -DNUMBER => FALSE(file)
// run: --automaton file -DUSED => FALSE(file)
// run: --automaton file -DEARLY => TRUE
// native: unseen
// A call counts even if its result is unused. Streams that constructors use are open.
#include <stdio.h>

#ifdef EARLY
__attribute__((constructor)) static void early(void) {
    fputs("starting\n", stderr);
}

int main(void) {
    fprintf(stderr, "%d\n", 7);
    return 0;
}
#else
int main(void) {
    FILE *file = fopen("a", "w");
    if (!file)
        return 1;
    fclose(file);
#if defined NUMBER
    fprintf(file, "%d\n", 7); // wrong
#elif defined USED
    return fprintf(file, "the end\n"); // wrong
#else
    fprintf(file, "the end\n"); // wrong
#endif
    return 0;
}
#endif
