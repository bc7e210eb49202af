// A timetable in which no two exams with a common student are at the same time: thirteen exams that share students pairwise, and a chain of others.
#include "../verify.h"

enum { EXAMS = 26, FULL = 13 };

#ifdef BUG
#define SLOTS FULL
#else
#define SLOTS (FULL - 1)
#endif

int main(void) {
    int slot[EXAMS];
    for (int i = 0; i < EXAMS; i++) {
        slot[i] = __VERIFIER_nondet_int();
        __VERIFIER_assume(slot[i] >= 0);
        __VERIFIER_assume(slot[i] < SLOTS);
    }
    for (int i = 0; i < FULL; i++)
        for (int j = 0; j < i; j++)
            __VERIFIER_assume(0 > (slot[i] - slot[j]) * (slot[j] - slot[i]));
    for (int i = FULL; i < EXAMS; i++) {
        int apart = slot[i] - slot[i - FULL];
        __VERIFIER_assume((apart < 0 ? -apart : apart) == 1 + i % 3);
    }
    reach_error(); // wrong: with one more slot, a timetable exists
    return 0;
}
