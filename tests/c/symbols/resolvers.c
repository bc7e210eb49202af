// run: --property unreach-call => UNKNOWN
// run: => UNKNOWN
// The loader calls the resolver of an ifunc, even if nothing calls the selected function.
extern void abort(void);
void reach_error(void) { abort(); }

static int was_resolved;

static int one(void) { return 1; }

static void *resolve(void) {
    was_resolved = 1;
    return one;
}

int selected(void) __attribute__((ifunc("resolve")));
int (*kept)(void) = selected;

int main(void) {
    if (was_resolved)
        reach_error(); // wrong
    return 0;
}
