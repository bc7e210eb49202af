#include <stdlib.h>

const char *get(void);

int main(void) {
    const char *text = get();
    return atoi(text);
}
