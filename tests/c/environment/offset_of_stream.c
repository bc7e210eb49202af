// run: => UNKNOWN
// A stream reads more of its file than the program requests, so the offset of its descriptor is not 0 after that.
#include "../verify.h"
#include <stdio.h>
#include <unistd.h>

int main(void) {
    FILE *file = fopen("file", "r");
    if (!file || getc(file) == EOF)
        return 0;
    long offset = lseek(fileno(file), 0, SEEK_CUR);
    check(offset <= 0); // wrong
    return 0;
}
