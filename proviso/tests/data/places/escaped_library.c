#include <stdarg.h>
#include <stdlib.h>
struct list { int size; int *items; struct list *next; };
extern struct list lists;
extern struct { int (*open)(int); void (*close)(void); } operations;
extern int (*visible_again)(int);
extern int (*visible_recursive)(int);
static int *array, *number, **cells;
static int mode(void) {
    const char *text = getenv("MODE");
    return text ? atoi(text) : 0;
}
void format(const char *text, ...) {
    va_list rest;
    va_start(rest, text);
    int *first = va_arg(rest, int *);
    if (!array) {
        array = first;
        va_arg(rest, int);
        number = va_arg(rest, int *);
    }
    va_end(rest);
    if (mode() == 1)
        array[1] = 100;
    if (mode() == 10 && first != array)
        first[0] = 7;
    if (mode() == 11 && first != array) {
        static int calls;
        if (!calls++)
            visible_recursive(3);
    }
}
int outside(int what) {
    switch (mode() * 10 + what) {
    case 22: *number = 200; break;
    case 32: *lists.items = -7; break;
    case 42: lists.next->size = 50; break;
    case 52: lists.next->items = NULL; break;
    case 62: operations.open(99); break;
    case 72: operations.close(); break;
    case 82: visible_again(77); break;
    case 92: operations.open(-1); break;
    case 142: exit(0);
    }
    return what;
}
char *within(const char *text) { return mode() == 12 ? NULL : (char *)text + 2; }
void *make(void) {
    static int made;
    return mode() == 13 ? NULL : &made;
}
