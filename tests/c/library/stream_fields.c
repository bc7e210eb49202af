// run: -DPART=1 => UNKNOWN
// run: -DPART=2 => UNKNOWN
// run: -DPART=3 => UNKNOWN
// run: -DPART=4 => TRUE
// run: -DPART=5 => UNKNOWN
// run: -DPART=6 => UNKNOWN
// run: --check address -DPART=7 => FALSE(address)
// run: --check address -DPART=8 => FALSE(address)
// run: --check address -DPART=9 => UNKNOWN
// Programs that access the fields of a stream of the GNU C library. The streams of the models have other fields.
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    int c = getc(stdin);
#if PART == 1
    // The buffer is empty after the last character.
    check(stdin->_IO_read_end - stdin->_IO_read_ptr != 0);
#elif PART == 2
    check(stdin->_IO_write_ptr == stdin->_IO_write_base);
#elif PART == 3
    // The next character is read again.
    stdin->_IO_read_ptr--;
    check(getc(stdin) == c);
#elif PART == 5
    // The stream is no longer at its end.
    if (c == EOF) {
        stdin->_flags &= ~0x10;
        check(feof(stdin));
    }
#elif PART == 6
    // The address of a field is used after another call.
    int *flags = &stdin->_flags;
    c = getc(stdin);
    if (c == EOF) {
        *flags &= ~0x10;
        check(feof(stdin));
    }
#elif PART == 7
    FILE *stream = fopen("file", "r");
    return stream->_flags & 1; // wrong
#elif PART == 8
    FILE *stream = fopen("file", "r");
    stream->_flags |= 1; // wrong
#elif PART == 9
    // The memory has no room for the field.
    FILE *stream = malloc(10);
    if (stream)
        return stream->_flags2 & 1;
#else
    FILE *stream = stdin;
    check(stream == stdin && c >= -1 && c <= 255);
#endif
    return 0;
}
