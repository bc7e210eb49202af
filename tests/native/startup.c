/* Functions that the loader calls at the start and at the end: the order of the calls, and their arguments. */
#include "report.h"
#include <stdlib.h>
#include <unistd.h>

static unsigned hash = 1;
static char **vector, **strings;

static void note(unsigned n) { hash = hash * 31 + n; }

#define FUNCTION(number) static void called_##number(void) { note(number); }
#define IN(section_name, number)                                                                                     \
    FUNCTION(number)                                                                                                 \
    __attribute__((section(section_name), used)) static void (*pointer_##number)(void) = called_##number;
#define CONSTRUCTOR(priority, number) __attribute__((constructor(priority))) FUNCTION(number)
#define DESTRUCTOR(priority, number) __attribute__((destructor(priority))) FUNCTION(number)

IN(".init_array", 1)
IN(".init_array.00300", 2)
CONSTRUCTOR(65535, 3)
CONSTRUCTOR(200, 4)
IN(".init_array.00200", 5)
IN(".preinit_array", 6)
IN(".init_array.00101", 7)
CONSTRUCTOR(101, 8)
IN(".init_array", 9)
IN(".preinit_array", 10)
IN(".ctors", 11)
IN(".ctors", 12)
IN(".ctors.65335", 13)
IN(".fini_array", 14)
IN(".fini_array.00300", 15)
IN(".fini_array.00200", 16)
DESTRUCTOR(200, 17)
DESTRUCTOR(65535, 18)
IN(".dtors", 19)
IN(".dtors", 20)
IN(".dtors.65335", 21)
IN(".fini_array", 22)

FUNCTION(40)
FUNCTION(41)
FUNCTION(42)
__attribute__((section(".init_array"), used, aligned(sizeof(void *)))) static void (*table[2])(void) = {called_40, called_41};

static void by_constructor(void) { note(50); }
static void by_main(void) { note(51); }
static void by_destructor(void) { note(52); }
static void by_last_destructor(void) {
    note(53);
#ifdef NATIVE
    printf("result %u\n", hash);
    fflush(stdout);
#endif
    _exit(hash);
}

static void with_arguments(int argc, char **argv, char **envp) {
    note(argc == 1);
    note(argv[argc] == 0);
    vector = argv;
    strings = envp;
}
__attribute__((section(".init_array"), used)) static void (*pointer_to_it)(int, char **, char **) = with_arguments;

__attribute__((constructor)) static void also_with_arguments(int argc, char **argv, char **envp) {
    note(argc);
    note(argv == vector);
    note(envp == strings);
    atexit(by_constructor);
}

__attribute__((destructor)) static void registers(void) { atexit(by_destructor); }
__attribute__((destructor(102))) static void registers_last(void) { atexit(by_last_destructor); }

int main(int argc, char **argv, char **envp) {
    note(60);
    note(argc);
    note(argv == vector);
    note(envp == strings);
    atexit(by_main);
    return 0;
}
