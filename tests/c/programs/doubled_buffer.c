// run: => TRUE
// run: --check address -DBUG => FALSE(address)
// Reads all characters into a buffer that is doubled when it is full.
#include <stdio.h>
#include <stdlib.h>
#ifdef BUG
#define SLACK 0
#else
#define SLACK 1
#endif

int main(void) {
    size_t room = 16, length = 0;
    char *text = malloc(room);
    if (!text)
        return 1;
    int c;
    while ((c = getchar()) != EOF) {
        if (length + SLACK >= room) {
            room *= 2;
            char *larger = realloc(text, room);
            if (!larger) {
                free(text);
                return 1;
            }
            text = larger;
        }
        text[length++] = c;
    }
    text[length] = 0; // wrong
    fwrite(text, 1, length, stdout);
    free(text);
    return 0;
}
