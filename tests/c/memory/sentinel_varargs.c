// run: --check address => TRUE
// run: --check address -DBUG => FALSE(address)
// Arguments up to a null pointer, in a program whose other arguments have any number and length. With
// BUG, the null pointer is missing.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static size_t total(const char *first, ...) {
    size_t length = strlen(first);
    va_list others;
    va_start(others, first);
    const char *other;
    while ((other = va_arg(others, const char *)) != NULL) // wrong with BUG
        length += strlen(other);
    va_end(others);
    return length;
}

#ifdef BUG
#define END
#else
#define END , (char *)NULL
#endif

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        printf("%zu\n", total(argv[i], "of", argv[0] END));
    return 0;
}
