// run: -DPART=1 => TRUE
// run: -DPART=1 -DWRONG=fileno(stream)!=n => TRUE
// run: -DPART=1 -DWRONG=getc(stream)=='x' => FALSE(unreach-call)
// run: -DPART=2 => TRUE
// run: -DPART=3 => TRUE
// Streams that are opened again after the program has closed their descriptors. In the GNU library, the new descriptor has the same number.
#include "../verify.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#ifndef WRONG
#define WRONG 0
#endif

int main(void) {
    FILE *stream = fopen("a", "r");
    if (!stream)
        return 1;
    int n = fileno(stream);
    close(n);
#if PART == 1
    stream = freopen("b", "r", stream);
    if (!stream)
        return 1;
    check(fileno(stream) == n && open("c", O_RDONLY) != n);
#elif PART == 2
    errno = 0;
    check(!freopen(NULL, "r", stream) && errno != 0);
#else
    close(0);
    if (!freopen("b", "r", stdin))
        return 1;
    check(fileno(stdin) == 0 && open("c", O_RDONLY) != 0 && open("d", O_RDONLY) != 0);
#endif
    check(!(WRONG)); // wrong
    return 0;
}
