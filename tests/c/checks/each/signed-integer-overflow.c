// run: --check signed-integer-overflow => TRUE
// run: --check signed-integer-overflow -DAT=EDGE => TRUE
// run: --check signed-integer-overflow -DAT=BEYOND => FALSE(signed-integer-overflow)
#include "edge.h"

int main(void) {
    int a = between(0, 1000), b = between(0, at(1000, 2147482647, 2147482648));
    return a + b == 5; // wrong
}
