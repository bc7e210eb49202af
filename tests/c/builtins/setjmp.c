// run: => UNKNOWN
#include "../verify.h"
#include <setjmp.h>

static jmp_buf env;

int main(void) {
    int r = setjmp(env);
    if (r == 0)
        longjmp(env, 5);
    check(r == 5);
    return 0;
}
