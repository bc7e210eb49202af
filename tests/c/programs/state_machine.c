#include "../verify.h"

enum state { IDLE, OPEN, READ, CLOSED, FAILED };

int main(void) {
    enum state s = IDLE;
    int reads = 0;
    for (int i = 0; i < 5; i++) {
        unsigned char event = __VERIFIER_nondet_uchar() & 3;
        switch (s) {
        case IDLE: s = event == 1 ? OPEN : IDLE; break;
        case OPEN: s = event == 2 ? READ : event == 3 ? CLOSED : FAILED; break;
        case READ:
            reads++;
            s = event == 2 ? READ : event == 3 ? CLOSED : FAILED;
            break;
        case CLOSED:
        case FAILED: break;
        }
    }
    check(reads <= 3);
    check(s != IDLE || reads == 0);
    wrong(s != CLOSED || reads != 2);
    return 0;
}
