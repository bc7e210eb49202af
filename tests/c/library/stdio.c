// Output has no effect on the verdict.
#include "../verify.h"
#include <stdio.h>

int main(void) {
    int x = __VERIFIER_nondet_int();
    printf("%d %s\n", x, "text");
    puts("line");
    putchar('c');
    fprintf(stderr, "%ld", 5l);
    check(x == x);
    wrong(x != 55);
    return 0;
}
