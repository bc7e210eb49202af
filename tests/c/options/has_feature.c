// The verified program is the one that the build makes: the checks do not change it.
// run: => FALSE(unreach-call)
// run: --check all => FALSE(unreach-call)
// run: --check unreach-call,shift => FALSE(unreach-call)
// run: --check unreach-call,shift -DIN=2 => FALSE(unreach-call)
// run: --check unreach-call,shift -DIN=3 => FALSE(unreach-call)
// run: --check unreach-call,shift -fsanitize=address => FALSE(unreach-call)
// run: -fsanitize=undefined => TRUE
// run: --check unreach-call,shift -fsanitize=bool => TRUE
// run: --check unreach-call,shift -fsanitize=undefined -fno-sanitize=all => FALSE(unreach-call)
// run: -fsanitize=address -DFEATURE=address_sanitizer => TRUE
// run: --check unreach-call,shift -fsanitize=thread -DFEATURE=thread_sanitizer -DIN=2 => TRUE
// run: --check unreach-call,shift -fsanitize=memory -DFEATURE=memory_sanitizer -DIN=3 => TRUE
// native: unseen
#include "../verify.h"
#ifndef FEATURE
#define FEATURE undefined_behavior_sanitizer
#endif
#define HAS(name) __has_feature(name)

#if IN == 2
// Not in a directive.
#define ON HAS(FEATURE)
#elif IN == 3
#define JOIN(a, b) __has_feature(a##_##b)
#define PARTS(a, b) JOIN(a, b)
#if PARTS(undefined_behavior, sanitizer) || HAS(FEATURE)
#define ON 1
#else
#define ON 0
#endif
#elif HAS(FEATURE)
#define ON 1
#else
#define ON 0
#endif

int main(void) {
    if (!ON)
        reach_error(); // wrong
    return 0;
}
