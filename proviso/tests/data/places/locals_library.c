#include <stdlib.h>
#include <string.h>
static int chosen(void) { return getenv("MODE") ? atoi(getenv("MODE")) : 0; }
void fill(char *text, int size) { memset(text, '7', chosen() == 1 ? size + 1 : size); }
char *name_of(int number) {
    static char names[4] = "ab";
    return chosen() == 2 ? NULL : names + (number & 1);
}
