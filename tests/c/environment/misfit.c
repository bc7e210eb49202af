// The input does not match the format, or ends.
#include "../verify.h"
#include <stdio.h>

int main(void) {
    int n = 0, count = 0;
    while (count < 3 && scanf("%d", &n) == 1)
        count++;
    check(count <= 3);
    wrong(count != 2 || n != 4711 || feof(stdin) || getchar() != 'x');
    return 0;
}
