// All ways to end a program, with all functions that may run at the end. The lowest four bits of the input select the end, and the other bits
// the registered functions. `say` prints immediately, `puts` when streams are flushed.
#include <err.h>
#include <error.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <unistd.h>

extern int __VERIFIER_nondet_int(void);
extern void say(int what);

static int input;

static void by_constructor(void) { say(1); }
static void second(void) { say(3); }
static void first(void) {
    say(2);
    if (input & 0x400)
        atexit(second);
    if (input & 0x800)
        exit(9);
}
static void with_status(int status, void *argument) { say(100 + status + *(int *)argument); }
static void quick(void) { say(4); }
static void quick_first(void) {
    say(5);
    if (input & 0x800)
        exit(8);
}

#ifdef SURROUNDED
__attribute__((constructor)) static void constructor(void) {
    input = __VERIFIER_nondet_int();
    say(10);
    if (input & 0x10)
        atexit(by_constructor);
}
__attribute__((destructor)) static void early_destructor(void) { say(11); }
__attribute__((destructor)) static void destructor(void) {
    say(12);
    if (input & 0x20)
        atexit(second);
    if (input & 0x1000)
        exit(7);
}
// The start files of some executables run functions that destructors have registered after the destructors without a priority, and before those with one.
__attribute__((destructor(200))) static void last_destructor(void) {
    if (!(input & 0x20))
        say(13);
}
#endif

static void end(void) {
    switch (input & 15) {
    case 0:
        exit(3);
    case 1:
        _exit(4);
    case 2:
        _Exit(5);
    case 3:
        quick_exit(6);
    case 4:
        abort();
    case 5:
        pthread_exit(0);
    case 6:
        errx(7, "an error");
    case 7:
        error(8, 0, "an error");
    case 8:
        thrd_exit(2);
    case 9:
        execl("/no/such/program", "program", (char *)0);
        break;
    case 10:
        err(9, "an error");
    }
}

int main(void) {
    static int one = 1;
#ifndef SURROUNDED
    input = __VERIFIER_nondet_int();
#endif
    say(20);
    puts("output");
    if (input & 0x40)
        atexit(first);
    if (input & 0x80)
        on_exit(with_status, &one);
    if (input & 0x100)
        at_quick_exit(quick);
    if (input & 0x200)
        at_quick_exit(quick_first);
    end();
    if (input & 1)
        return 300;
}
