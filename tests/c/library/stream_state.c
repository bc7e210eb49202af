// run: => TRUE
// run: --check address -DBUG => FALSE(address)
// Functions of stdio_ext.h leave other facts as they are.
#include <stdio.h>
#include <stdio_ext.h>

int main(void) {
    char names[4][8] = {"one", "two"};
    int readable = 0;
    FILE *file = fopen("data", "r");
    if (file) {
        readable = __freadable(file) && __freading(file) && !__fwritable(file);
        fclose(file);
    }
#ifdef BUG
    if (readable)
        readable += 4;
#endif
    putchar(names[readable][0]); // wrong
    if (__fpending(stdout) > 0)
        fflush(stdout);
    putchar(names[readable][0]);
    return 0;
}
