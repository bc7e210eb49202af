// run: --automaton file => TRUE
// run: --automaton file -DCOPY => TRUE
// run: --automaton file -DCOPY -DUSED => FALSE(file)
// run: --automaton file -DKEPT => FALSE(file)
// run: --automaton file -DSTANDARD => FALSE(file)
// run: --automaton file -DEMPTY => TRUE
// run: --automaton file -DEMPTY --analysis symex => TRUE
// run: --automaton file -DEMPTY --analysis value => TRUE
// native: unseen
// Any number of files, one after the other or two at a time; the standard streams are open at first, and may be closed.
#include <stdio.h>

#if defined COPY
int main(int argc, char **argv) { // with COPY and USED wrong
    if (argc < 3)
        return 1;
    FILE *in = fopen(argv[1], "r");
    if (!in) {
        perror(argv[1]);
        return 1;
    }
    FILE *out = fopen(argv[2], "w");
    if (!out) {
        perror(argv[2]);
        fclose(in);
        return 1;
    }
    int c;
    while ((c = fgetc(in)) != EOF)
        fputc(c, out);
    fclose(in);
#ifdef USED
    rewind(in); // wrong
#endif
    fclose(out);
    return 0;
}
#elif defined EMPTY
extern int __VERIFIER_nondet_int(void);
// A slice removes the calls that close the files, so open files accumulate in it.
int main(void) {
    while (__VERIFIER_nondet_int()) {
        FILE *file = fopen("a", "w");
        if (!file)
            return 1;
        fclose(file);
    }
    return 0;
}
#else
int main(int argc, char **argv) { // with KEPT wrong: a stream that is open at the end is reported here
    long lines = 0;
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "r");
        if (!file) {
            perror(argv[i]);
            continue;
        }
        int c;
        while ((c = fgetc(file)) != EOF)
            lines += c == '\n';
#ifdef KEPT
        if (lines == 3)
            continue;
#endif
        fclose(file);
    }
    printf("%ld\n", lines);
#ifdef STANDARD
    fclose(stdout);
    fputs("the end\n", stdout); // wrong
#endif
    return 0;
}
#endif
