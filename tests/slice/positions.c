// The position of a stream and the content of its buffer depend on output, even if the output is not read again.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern void criterion(int place, long value);

static char own[4096], area[32];

int main(void) {
    long number = atoi("1234");
    FILE *file = tmpfile();
    fprintf(file, "%ld", number);
    criterion(1, ftell(file));
    fputs("more", file);
    fpos_t position;
    fgetpos(file, &position);
    criterion(2, position.__pos);
    fflush(file);
    criterion(3, lseek(fileno(file), 0, SEEK_CUR));
    putc('x', file);
    fflush(file);
    struct stat status;
    fstat(fileno(file), &status);
    criterion(4, status.st_size);
    fseek(file, -3, SEEK_CUR);
    fwrite("y", 1, 1, file);
    criterion(5, ftello(file));
    fclose(file);

    FILE *buffered = tmpfile();
    setvbuf(buffered, own, _IOFBF, sizeof own);
    fprintf(buffered, "%ld", number + 1);
    criterion(6, own[3]);
    fputs("hello", buffered);
    criterion(7, own[4]);
    fclose(buffered);

    char *text;
    size_t length;
    FILE *memory = open_memstream(&text, &length);
    fprintf(memory, "%ld", number);
    fflush(memory);
    criterion(8, length + text[1]);
    fputs("abc", memory);
    fclose(memory);
    criterion(9, length + text[5]);
    free(text);

    FILE *of_area = fmemopen(area, sizeof area, "w+");
    fputs("xyz", of_area);
    fflush(of_area);
    criterion(10, area[2]);
    rewind(of_area);
    area[0] = 'q';
    criterion(11, fgetc(of_area));
    fclose(of_area);

    criterion(12, ferror(stdin) + (fputc('a', stdin) == EOF) + ferror(stdin));
    return 0;
}
