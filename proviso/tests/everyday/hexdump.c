/* Shows a file in hexadecimal, from an offset on. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    unsigned char block[16];
    long offset = 0;
    size_t n;
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: %s file [offset]\n", argv[0]);
        return EXIT_FAILURE;
    }
    FILE *f = fopen(argv[1], "rb");
    if (f == NULL) {
        perror(argv[1]);
        return EXIT_FAILURE;
    }
    if (argc == 3) {
        offset = strtol(argv[2], NULL, 0);
        if (offset < 0 || fseek(f, offset, SEEK_SET) != 0) {
            fprintf(stderr, "bad offset\n");
            fclose(f);
            return EXIT_FAILURE;
        }
    }
    while ((n = fread(block, 1, sizeof block, f)) > 0) {
        printf("%08lx ", offset);
        for (size_t i = 0; i < sizeof block; i++) {
            if (i < n)
                printf(" %02x", block[i]);
            else
                printf("   ");
        }
        printf("  |");
        for (size_t i = 0; i < n; i++)
            putchar(isprint(block[i]) ? block[i] : '.');
        printf("|\n");
        offset += (long)n;
    }
    fclose(f);
    return EXIT_SUCCESS;
}
