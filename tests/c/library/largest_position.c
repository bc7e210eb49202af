// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// Behind a byte that was read, the position still fits into its type, since files are no longer than that.
#include "../verify.h"
#include <stdio.h>
#include <unistd.h>

int main(void) {
    long position = ftell(stdin);
    if (position >= 0 && getchar() != EOF) {
        check(ftell(stdin) == position + 1);
        wrong(position < 5); // wrong
    }
    off_t offset = lseek(3, 0, SEEK_CUR);
    char byte;
    if (offset >= 0 && read(3, &byte, 1) == 1)
        check(offset + 1 > offset);
    return 0;
}
