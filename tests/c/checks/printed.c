// Calls that print with a known format: their models only read the strings, up to the precision, from streams that can be written to.
// run: --check address,leak => TRUE
// run: --check address -DBUG=1 => FALSE(address)
// run: --check address -DBUG=2 => FALSE(address)
// run: --check address -DBUG=3 => FALSE(address)
// run: --check address -DBUG=4 => FALSE(address)
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BUG
#define BUG 0
#endif

int main(void) {
    char three[3] = {'a', 'b', 'c'};
    char *text = malloc(4);
    if (!text)
        return 1;
    memcpy(text, "xyz", 4);
    int n = __VERIFIER_nondet_uint() % 4;
    printf("%d%% of %5.2f, %-3c %p %lu %Lf\n", n, 0.5, 'c', (void *)text, 1ul, 2.0L);
    printf("%.3s\n", three);
    printf("%*.*s|%s\n", 10, n, three, text);
    printf("%.*s\n", n - 4, "all");
    fprintf(stderr, BUG == 1 ? "%s" : "%.2s", three); // wrong
    fprintf(stdout, "%.1s", BUG == 2 ? text + 4 : text); // wrong
    printf("%s", (char *)NULL);
    int counted = 0;
    printf("%s%n\n", text, BUG == 3 ? (int *)text + 1 : &counted); // wrong
    free(text);
    if (BUG == 4)
        fprintf(stdout, "%s", text); // wrong
    return 0;
}
