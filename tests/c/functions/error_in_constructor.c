// run: => FALSE(unreach-call)
#include "../verify.h"

__attribute__((constructor)) static void before(void) {
    reach_error(); // wrong
}

int main(void) { return 0; }
