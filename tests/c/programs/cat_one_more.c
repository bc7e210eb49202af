// run: --check address => FALSE(address)
// native: unseen
// The element behind the last argument is null.
#include <stdio.h>
static int copy(FILE *from) {
    char buffer[4096];
    size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, from)) > 0)
        if (fwrite(buffer, 1, n, stdout) != n)
            return -1;
    return ferror(from) ? -1 : 0;
}
int main(int argc, char **argv) {
    int status = 0;
    if (argc < 2)
        return copy(stdin) != 0;
    for (int i = 1; i <= argc; i++) {
        FILE *file = fopen(argv[i], "rb"); // wrong
        if (!file) {
            perror(argv[i]);
            status = 1;
            continue;
        }
        if (copy(file) != 0)
            status = 1;
        fclose(file);
    }
    return status;
}
