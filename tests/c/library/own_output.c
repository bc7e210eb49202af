// run: -DRUN=0 => UNKNOWN
// run: -DRUN=1 => UNKNOWN
// run: -DRUN=2 => UNKNOWN
// run: -DRUN=3 => UNKNOWN
// run: -DRUN=4 => UNKNOWN
// run: -DRUN=5 => UNKNOWN
// run: -DRUN=6 => UNKNOWN
// run: -DRUN=7 => FALSE(unreach-call)
// run: -DRUN=8 => FALSE(unreach-call)
// run: -DRUN=9 => FALSE(unreach-call)
// A program that reads what it has written itself gets the same data. In the model they are arbitrary, so FALSE is lost.
#include "../verify.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

int main(void) {
    char c = 'a', text[8];
    int ends[2];
#if RUN == 0
    if (pipe(ends) == 0 && write(ends[1], &c, 1) == 1 && read(ends[0], &c, 1) == 1)
        check(c == 'a');
#elif RUN == 1
    if (pipe(ends) != 0 || write(ends[1], "a\n", 2) != 2)
        return 1;
    FILE *f = fdopen(ends[0], "r");
    if (f && fgets(text, 8, f))
        check(text[0] == 'a');
#elif RUN == 2
    if (pipe(ends) != 0 || write(ends[1], "a\n", 2) != 2 || dup2(ends[0], 0) != 0)
        return 1;
    if (fgets(text, 8, stdin))
        check(text[0] == 'a');
#elif RUN == 3
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0 && send(ends[0], "ab", 2, 0) == 2 && recv(ends[1], text, 2, 0) == 2)
        check(text[1] == 'b');
#elif RUN == 4
    int f = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (f >= 0 && write(f, &c, 1) == 1 && lseek(f, 0, SEEK_SET) == 0 && read(f, &c, 1) == 1)
        check(c == 'a');
#elif RUN == 5
    FILE *f = tmpfile();
    if (!f || fputc('a', f) != 'a')
        return 1;
    rewind(f);
    int first = fgetc(f);
    check(first == 'a' || first == EOF);
#elif RUN == 6
    FILE *f = tmpfile();
    int number;
    if (!f || fprintf(f, "%d", 42) != 2)
        return 1;
    rewind(f);
    if (fscanf(f, "%d", &number) == 1)
        check(number == 42);
#elif RUN == 7
    if (pipe(ends) == 0 && write(ends[1], &c, 1) == 1 && fgets(text, 8, stdin))
        check(!(text[0] == 'x')); // wrong
#elif RUN == 8
    if (pipe(ends) != 0 || close(ends[0]) != 0)
        return 1;
    int f = open("file", O_RDONLY);
    if (f >= 0 && read(f, &c, 1) == 1)
        check(!(c == 'x')); // wrong
#else
    FILE *f = fopen("file", "r+");
    if (f && fseek(f, 0, SEEK_SET) == 0 && fgets(text, 8, f))
        check(!(text[0] == 'x')); // wrong
#endif
    return 0;
}
