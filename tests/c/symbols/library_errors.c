// run: --error-function memcpy -DMEMCPY => FALSE(unreach-call)
// run: --error-function memcpy -DBUILTIN => FALSE(unreach-call)
// run: --error-function memcpy -DFORTIFIED => FALSE(unreach-call)
// run: --error-function memcpy -DPOINTER => FALSE(unreach-call)
// run: --error-function memcpy -DCOPY => TRUE
// run: --error-function memcpy -DLIBRARY => TRUE
// run: --error-function malloc -DLIBRARY => FALSE(unreach-call)
// run: --error-function strlen -DLITERAL => FALSE(unreach-call)
// run: --error-function abs -DABS => FALSE(unreach-call)
// run: --error-function abort -DABORT => FALSE(unreach-call)
// run: --error-function printf -DPRINTF => FALSE(unreach-call)
// run: --error-function scanf -DSCANF => FALSE(unreach-call)
// run: --error-function exit -DABORT => TRUE
// native: unseen
// Library functions as error functions, including those that the compiler translates to instructions or evaluates. Calls that the compiler
// inserts for a struct are no calls of the program, and neither are calls within the library, except of functions like `malloc`.
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct large {
    char bytes[200];
};
struct large from, to;
void *(*copy)(void *, const void *, size_t) = memcpy;
char *text;

int main(int argc, char **argv) {
    char a[8], b[8] = "abc";
    int n = 0;
    if (argc == 3) {
#if defined MEMCPY
        memcpy(a, b, 4); // wrong
#elif defined BUILTIN
        __builtin_memcpy(a, b, 4); // wrong
#elif defined FORTIFIED
        __builtin___memcpy_chk(a, b, 4, 8); // wrong
#elif defined POINTER
        copy(a, b, 4); // wrong
#elif defined COPY
        to = from;
#elif defined LIBRARY
        text = strdup(b); // wrong
#elif defined LITERAL
        n = strlen("abc"); // wrong
#elif defined ABS
        n = abs(argc); // wrong
#elif defined ABORT
        __builtin_abort(); // wrong
#elif defined PRINTF
        printf("%d\n", n); // wrong
#elif defined SCANF
        scanf("%d", &n); // wrong
#endif
    }
    return n == 7;
}
