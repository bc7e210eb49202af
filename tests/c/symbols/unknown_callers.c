// run: --property unreach-call => UNKNOWN
// run: --property no-overflow => UNKNOWN
// run: --check signed-integer-overflow => UNKNOWN
// run: --error-function add => UNKNOWN
// run: => UNKNOWN
// run: --undefined-functions any-value => TRUE
// run: --property unreach-call -DUNCALLED => TRUE
// run: -DUNCALLED => TRUE
// A function that is not defined may call every function of the program by its name. Nothing else calls `reach_error`
// or `add`, so no place of the known code is asked about.
extern void abort(void);
extern int pending(void);
void reach_error(void) { abort(); }
int add(int a) { return a + 1; }

int call(void) { return pending(); }

int main(void) {
#ifndef UNCALLED
    call();
#endif
    return 0;
}
