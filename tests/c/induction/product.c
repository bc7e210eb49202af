// run: --analysis invariants => TRUE
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* At the end of the inner loop, two factors are equal. The proof needs two inequalities. */
int main(void) {
    int rows = __VERIFIER_nondet_int(), columns = __VERIFIER_nondet_int(), cells = 0;
    if (rows < 3 || rows > 200 || columns < 3 || columns > 200) return 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) cells++;
#ifdef BUG
    check(cells != 12); // wrong
#else
    check(cells >= 9);
#endif
    return 0;
}
