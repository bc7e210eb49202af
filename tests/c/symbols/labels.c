// run: => TRUE
// run: -DDECLARED => FALSE(unreach-call)
// run: -DDEFINED => FALSE(unreach-call)
// run: -DNAMED => FALSE(unreach-call)
// run: --error-function stop -DOTHER => FALSE(unreach-call)
// run: --error-function halt -DOTHER => FALSE(unreach-call)
// Assembler labels: a call counts by its function's symbol, and by its name in C.
#include "../verify.h"

#if defined DECLARED
extern void fail(void) __asm__("reach_error");
#elif defined DEFINED
void fail(void) __asm__("reach_error");
void fail(void) { abort(); }
#elif defined NAMED
void reach_error(void) __asm__("other");
void reach_error(void) { abort(); }
#define fail reach_error
#elif defined OTHER
void stop(void) __asm__("halt");
void stop(void) { abort(); }
#define fail stop
#else
static void fail(void) __asm__("reach_errors");
static void fail(void) {}
#endif

extern int any(void) __asm__("__VERIFIER_nondet_int");
int x = 1;
extern int y __asm__("x");

int main(void) {
    y = any();
    if (y == 1234 && x == 1234)
        fail(); // wrong
    return 0;
}
