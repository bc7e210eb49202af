#include "../verify.h"
#include <stdio.h>

int main(void) {
    int c = getchar();
    check(c == EOF || (c >= 0 && c <= 255));
    wrong(c != 'p');
    return 0;
}
