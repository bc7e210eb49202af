// run: => FALSE
// Without a null pointer at the end, the function reads an argument that was not passed.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static size_t total(const char *first, ...) {
    size_t length = strlen(first);
    va_list others;
    va_start(others, first);
    const char *other;
    while ((other = va_arg(others, const char *)) != NULL) // wrong
        length += strlen(other);
    va_end(others);
    return length;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        printf("%zu\n", total(argv[i], "of", argv[0]));
    return 0;
}
