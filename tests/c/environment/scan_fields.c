// Formatted input from a stream: `%n` is the number of bytes read, fields have the room of their width, and the input after a number does not
// continue it.
// run: -DCASE=0 => TRUE
// run: -DCASE=0 -DBUG => FALSE(unreach-call)
// run: -DCASE=1 => TRUE
// run: -DCASE=1 -DBUG => FALSE(unreach-call)
// run: -DCASE=2 => TRUE
// run: -DCASE=2 -DBUG => FALSE(unreach-call)
// run: -DCASE=3 => TRUE
// run: -DCASE=3 -DBUG => FALSE(unreach-call)
// run: -DCASE=4 => TRUE
// run: -DCASE=4 -DBUG => FALSE(unreach-call)
// run: -DCASE=5 => TRUE
// run: -DCASE=5 -DBUG => FALSE(unreach-call)
// run: -DCASE=6 => TRUE
// run: -DCASE=6 -DBUG => FALSE(unreach-call)
// run: -DCASE=7 => TRUE
// run: -DCASE=7 -DBUG => FALSE(unreach-call)
// run: -DCASE=8 => UNKNOWN
// run: -DCASE=8 -DBUG => FALSE(unreach-call)
#include "../verify.h"
#include <stdio.h>

int main(void) {
    int x = 0, n = -1;
    char s[5], c;
    float f;
    double d;
#if CASE == 0
    if (scanf("%4i", &x) != 1)
        return 0;
    check(x <= 9999 && x >= -999);
    wrong(x != -0xf);
#elif CASE == 1
    // White space before the number counts, too.
    if (scanf("%d%n", &x, &n) != 1)
        return 0;
    check(n >= 1 && (x < 1000 || n >= 4));
    wrong(x != -77 || n != 9);
#elif CASE == 2
    if (scanf("%1lf", &d) != 1)
        return 0;
    check(d >= 0 && d <= 9);
    wrong(d != 7);
#elif CASE == 3
    if (scanf("%3f", &f) != 1)
        return 0;
    check(f != 123456.0f);
    wrong(f != -.5f);
#elif CASE == 4
    if (scanf("%4s%n", s, &n) != 1)
        return 0;
    check(n >= 1);
    wrong(n != 6 || s[0] != 'a' || s[1] != 0);
#elif CASE == 5
    scanf("%n", &n);
    check(n == 0);
    wrong(getchar() != 'q');
#elif CASE == 6
    if (scanf("%d%c%n", &x, &c, &n) != 2)
        return 0;
    check(c < '0' || c > '9');
    wrong(x != 12 || c != 'x' || n != 5);
#elif CASE == 7
    if (scanf("%*3[a-c]%n%3f", &n, &f) != 1)
        return 0;
    check(n >= 1 && n <= 3);
    wrong(n != 2 || f != 3e7f);
#else
    // A field that has room for some numbers only.
    if (scanf("%6lf", &d) != 1)
        return 0;
    check(d != 0.123456789);
    wrong(d != -1234);
#endif
    return 0;
}
