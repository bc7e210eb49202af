// run: --property unreach-call => TRUE
// run: -DEXIT --property unreach-call => FALSE(unreach-call)
// run: -DQUICK --property unreach-call => FALSE(unreach-call)
// run: -DSTATUS --property unreach-call => FALSE(unreach-call)
// run: -DTHREAD --property unreach-call => FALSE(unreach-call)
// run: -DORDER --property unreach-call => TRUE
// Handlers run at `exit` and at the end of the last thread, others at `quick_exit`, and none at `_Exit`. The last registered handler runs first; those
// that destructors register run last. `on_exit` passes the status.
#include "../verify.h"
#include <pthread.h>
#include <stdlib.h>

static int ran;

static void bye(void) { reach_error(); } // wrong
static void with_status(int status, void *argument) {
    if (status == 300 && argument == &ran)
        reach_error(); // wrong
}
static void by_destructor(void) {
    if (ran != 3)
        reach_error();
}
static void second(void) {
    if (ran++ != 1)
        reach_error();
}
static void first(void) {
    if (ran++ != 0)
        reach_error();
}

#ifdef ORDER
__attribute__((destructor)) static void destructor(void) {
    if (ran++ != 2)
        reach_error();
    atexit(by_destructor);
}
#endif

int main(void) {
#if defined(STATUS)
    on_exit(with_status, &ran);
    exit(300);
#elif defined(QUICK)
    at_quick_exit(bye);
    quick_exit(1);
#elif defined(THREAD)
    atexit(bye);
    pthread_exit(0);
#elif defined(ORDER)
    atexit(second);
    atexit(first);
    return 0;
#else
    at_quick_exit(bye);
    atexit(bye);
#ifdef EXIT
    exit(2);
#endif
    _Exit(3);
#endif
}
