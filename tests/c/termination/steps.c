// A function in the loop's condition does what the loop does: what it changes is where its argument leads, or a variable of its file.
// run: --property termination => TRUE
// run: --property termination -DLAST=-1 => FALSE(termination)
extern int __VERIFIER_nondet_int(void);
#ifdef LAST
// Few steps: where a run takes very many first, it may be told after some turns before the loop behind them is shown not to be left.
#define PLACE (__VERIFIER_nondet_int() & 7)
#else
#define LAST 0
#define PLACE __VERIFIER_nondet_int()
#endif

struct walk {
    int at, end;
};

static int step(struct walk *w) {
    if (w->at == w->end)
        return 0;
    if (w->at < w->end)
        w->at++;
    else
        w->at--;
    return 1;
}

static int take(int *left) {
    return *left > LAST && (*left > 0 ? (*left)-- : 1);
}

// The state lies one call deeper.
static int is_done(const int *left) {
    return *left <= 0;
}

static int tick(int *left, int by) {
    if (is_done(left))
        return 0;
    *left -= by;
    return 1;
}

static int fuel;

static int burn(void) {
    return fuel-- > 0;
}

int main(void) {
    struct walk w = {PLACE, PLACE};
    while (step(&w))
        ;
    int left = __VERIFIER_nondet_int();
    while (take(&left)) // wrong
        ;
    int slow = __VERIFIER_nondet_int();
    while (tick(&slow, 2))
        ;
    fuel = __VERIFIER_nondet_int();
    while (burn())
        ;
    return 0;
}
