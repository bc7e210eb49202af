// A function in the loop's condition does the work of the loop: it changes the target of its argument, or a variable of its file.
// run: --property termination => TRUE
// run: --property termination -DLAST=-1 => FALSE(termination)
extern int __VERIFIER_nondet_int(void);
#ifdef LAST
// Few steps: after very many steps, the result may be reported before the loop is proved to be infinite.
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

// The state is one call deeper.
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
