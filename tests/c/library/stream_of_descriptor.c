// run: --property unreach-call => FALSE(unreach-call)
//
// The harness provides the result of `open`, and the stream of `fdopen` with its content.

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>

int main(void) {
    int file = open("input", O_RDONLY);
    if (file < 0)
        return 1;
    FILE *stream = fdopen(file, "r");
    if (!stream)
        return 1;
    assert(fgetc(stream) != 'q'); // wrong
    return 0;
}
