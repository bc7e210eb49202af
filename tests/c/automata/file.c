// run: --automaton file => TRUE
// run: --automaton file -DOPEN => FALSE(file)
// run: --automaton file -DTWICE => FALSE(file)
// run: --automaton file -DUSED => FALSE(file)
// run: --automaton file -DNULLED => FALSE(file)
// native: unseen
#include <stdio.h>

static int first_byte(const char *name) {
    FILE *stream = fopen(name, "r");
#ifdef NULLED
    int c = fgetc(stream); // wrong
    if (stream)
        fclose(stream);
    return c;
#else
    if (!stream)
        return -1;
    int c = fgetc(stream);
#ifdef OPEN
    if (c == 'x')
        return c;
#endif
    fclose(stream);
#ifdef TWICE
    if (c == EOF)
        fclose(stream); // wrong
#endif
#ifdef USED
    c += fgetc(stream); // wrong
#endif
    return c;
#endif
}

int main(void) { // with OPEN wrong: a stream that is open at the end is reported here
    if (first_byte("one") == first_byte("two"))
        fputs("the same\n", stdout);
    return 0;
}
