// run: --entry check_sum => FALSE(unreach-call)
// run: --entry in_range => TRUE
// run: => TRUE
#include "../verify.h"

void check_sum(int x, unsigned char c, double d) {
    if (x > 5 && c == 7 && d > 1.5)
        check(x + c < 100); // wrong
}

void in_range(short s, signed char c) { check(s + c <= 32767 + 127 && s + c >= -32768 - 128); }

int main(void) { return 0; }
