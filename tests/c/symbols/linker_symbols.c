// run: => UNKNOWN
// run: -DSTART => UNKNOWN
// run: -DBUG => FALSE(unreach-call)
// The addresses of linker symbols are unknown: sections that the program traverses, the ends of segments.
#include "../verify.h"

static int called;
static void hook(void) { called = 1; }
__attribute__((section("hooks"), used)) static void (*pointer)(void) = hook;
#ifndef BUG
extern void (*__start_hooks[])(void), (*__stop_hooks[])(void);
extern char end;
#endif

int main(void) {
#ifdef BUG
    wrong(called);
#elif defined START
    for (void (**p)(void) = __start_hooks; p < __stop_hooks; p++)
        (*p)();
    check(called);
#else
    check((char *)&called < &end);
#endif
    return 0;
}
