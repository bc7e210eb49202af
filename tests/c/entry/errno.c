// run: --entry receive => TRUE
// run: --entry receive --entry-globals => FALSE(unreach-call)
// native: no
// If global variables have any values when the function is called, so has `errno`.
#include "../verify.h"
#include <errno.h>

void receive(int retries) {
    if (retries > 0)
        check(errno != EINTR); // wrong
}
