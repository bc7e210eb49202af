// TRUE: a lift that counts its rides for ever is always in one of three modes. Only the mode matters.
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);

enum mode { WAITING, UP, DOWN };

static enum mode next(enum mode mode, int called) {
    switch (mode) {
    case WAITING:
        return called > 0 ? UP : called < 0 ? DOWN : WAITING;
    case UP:
        return called > 0 ? UP : WAITING;
    default:
        return called < 0 ? DOWN : WAITING;
    }
}

int main(void) {
    enum mode mode = WAITING;
    unsigned rides = 0;
    int floor = 0;
    for (;;) {
        int called = __VERIFIER_nondet_int();
        mode = next(mode, called);
        if (mode != WAITING)
            rides++, floor += mode == UP ? 1 : -1;
        if (mode > DOWN)
            reach_error();
    }
}
