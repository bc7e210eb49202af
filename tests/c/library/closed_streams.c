// run: -DPART=1 => TRUE
// run: -DPART=1 -DWRONG=puts("x")==EOF => FALSE(unreach-call)
// run: -DPART=1 -DWRONG=getchar()==EOF => FALSE(unreach-call)
// run: -DPART=2 => TRUE
// run: -DPART=2 -DWRONG=read(0,b,1)>=0 => TRUE
// run: -DPART=3 => TRUE
// run: -DPART=3 -DWRONG=fputc('x',stdout)==EOF => UNKNOWN
// Streams that the program closed, and streams whose descriptor it closed.
#include "../verify.h"
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#ifndef WRONG
#define WRONG 0
#endif

int main(void) {
    char b[4];
    int x;
#if PART == 1
    check(fclose(stdout) == 0 || errno != 0);
    errno = 0;
    check(fputc('x', stdout) == EOF && errno == EBADF && ferror(stdout) && printf("%d", 1) == -1);
    check(fwrite(b, 0, 1, stdout) == 0 && fflush(stdout) == 0 && fclose(stdout) == EOF);
    if (!freopen("missing", "w", stderr))
        check(fputs("x", stderr) == EOF && ftell(stderr) == -1);
    else
        check(fputs("x", stderr) >= 0);
#elif PART == 2
    close(0);
    check(!fgets(b, 4, stdin) && ferror(stdin) && !feof(stdin) && fread(b, 1, 4, stdin) == 0);
    check(scanf("%d", &x) == EOF && fclose(stdin) == EOF && getchar() == EOF && fileno(stdin) == -1);
#else
    close(1);
    check(fclose(stdin) <= 0);
#endif
    check(!(WRONG)); // wrong
    return 0;
}
