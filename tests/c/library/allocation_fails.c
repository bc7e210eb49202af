// run: --malloc-may-fail --check address -DHOW=1 => FALSE(address)
// run: --malloc-may-fail --check address -DHOW=2 => FALSE(address)
// run: --malloc-may-fail --check address -DHOW=3 => FALSE(address)
// run: --malloc-may-fail --check address -DHOW=4 => FALSE(address)
// run: --malloc-may-fail --check address -DHOW=0 => TRUE
// run: --check address -DHOW=1 => TRUE
// run: --malloc-may-fail --check leak -DHOW=5 => FALSE(leak)
// Each function that allocates may fail, independently of earlier calls. Memory from successful calls is ordinary memory.
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *a = malloc(2);
    if (!a)
        return 1;
    char *p = malloc(3); // wrong for 5: lost
    if (HOW != 1 && !p) {
        free(a);
        return 2;
    }
    p[1] = 3; // wrong for 1
    int *q = calloc(4, sizeof *q);
    if (HOW != 2 && !q) {
        free(a);
        free(p);
        return 3;
    }
    q[3] = 1; // wrong for 2
    char *r = realloc(p, 8);
    if (HOW != 3 && !r) {
        if (HOW != 5)
            free(p);
        free(a);
        free(q);
        return 4;
    }
    r[7] = 1; // wrong for 3
    char *s = strdup("abc");
    if (HOW == 4 || s)
        s[0] = 'x'; // wrong for 4
    free(s);
    free(r);
    free(q);
    free(a);
    return 0;
}
