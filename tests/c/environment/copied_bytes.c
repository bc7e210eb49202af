#define _GNU_SOURCE
#include "../verify.h"
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

/* Bytes that the system copies between files move the offset that the caller passes, or that of the file. */
int main(int argc, char **argv) {
    if (argc < 3)
        return 1;
    int in = open(argv[1], O_RDONLY), out = open(argv[2], O_WRONLY | O_CREAT, 0666), kept = 7;
    if (in < 0 || out < 0)
        return 1;
    off64_t at = 3;
    ssize_t n = copy_file_range(in, &at, out, NULL, 100, 0);
    check(n >= -1 && n <= 100);
    check(at == (n < 0 ? 3 : 3 + n));
    off_t next = 2;
    n = sendfile(out, in, &next, 10);
    check(next >= 2 && next <= 12);
    check(copy_file_range(out, NULL, in, NULL, 10, 0) <= 0);
    check(kept == 7);
    wrong(next != 9);
    return 0;
}
