#include "../verify.h"
#include <stdlib.h>
#include <time.h>

int main(void) {
    srand((unsigned)time(0));
    int r = rand();
    check(r >= 0 && r <= RAND_MAX);
    wrong(r % 6 != 3);
    return 0;
}
