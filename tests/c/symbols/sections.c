// Pointers in sections of the loader: their functions are called before `main`, with its arguments, and at the end.
#include "../verify.h"
#include <stdlib.h>

static int step, count;
static char **arguments, **environment;

#define AT(expected) (check(step == expected), step++)
#define IN(name) __attribute__((section(name), used))

static void first(void) { AT(0); }
static void early(void) { AT(1); }
static void third(int argc, char **argv, char **envp) {
    AT(3);
    count = argc;
    arguments = argv;
    environment = envp;
}
static void fourth(void) { AT(4); }
__attribute__((constructor(300))) static void second(void) { AT(2); }
__attribute__((constructor)) static void last(int argc, char **argv) {
    AT(5);
    check(argc == count && argv == arguments);
}

IN(".init_array") static void (*to_third)(int, char **, char **) = third;
IN(".init_array.00200") static void (*to_early)(void) = early;
IN(".preinit_array") static void (*to_first)(void) = first;
IN(".init_array") static void (*to_fourth)(void) = fourth;

static void handler(void) { AT(7); }
static void late(void) { AT(9); }
static void destroy(void) {
    AT(8);
    atexit(late);
}
IN(".fini_array") static void (*to_destroy)(void) = destroy;
__attribute__((destructor(200))) static void end(void) {
    AT(10);
    wrong(count < 5);
}

int main(int argc, char **argv, char **envp) {
    AT(6);
    check(argc == count && argv == arguments && envp == environment);
    atexit(handler);
    return 0;
}
