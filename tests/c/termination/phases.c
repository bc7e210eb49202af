// The first component is a flag that changes once; the loop of a library function ends, too.
// run: --property termination => TRUE
// run: --property termination -DBUG => FALSE(termination)
#include <string.h>
extern int __VERIFIER_nondet_int(void);

int main(void) {
    char text[4] = "abc";
    int x = __VERIFIER_nondet_int(), up = (int)strlen(text);
    while (x > 0 && x < 1000) { // wrong
        if (up > 0) {
            x++;
            if (__VERIFIER_nondet_int() || x > 500)
                up = 0;
        } else {
            x--;
#ifdef BUG
            if (x == 7)
                up = 1;
#endif
        }
    }
    return 0;
}
