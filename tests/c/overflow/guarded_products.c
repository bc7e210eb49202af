// Products whose overflow a division rules out.
// run: --entry area => TRUE
// run: --entry area --check default => TRUE
// run: --entry unsigned_area --check unsigned-integer-overflow => TRUE
// run: --entry swapped => TRUE
// run: --entry area -DBUG --check signed-integer-overflow => FALSE(signed-integer-overflow)
// run: --entry unsigned_area -DBUG --check unsigned-integer-overflow => FALSE(unsigned-integer-overflow)
#include <limits.h>
#include "../verify.h"

#ifdef BUG
#define OTHER + 1
#else
#define OTHER
#endif

int area(int w, int h) {
    if (h <= 0 || w < 0)
        return -1;
    if (w > INT_MAX / h OTHER)
        return -1;
    return w * h; // wrong
}

unsigned unsigned_area(unsigned w, unsigned h) {
    if (h != 0 && w > UINT_MAX / h OTHER)
        return 0;
    return w * h; // wrong
}

int swapped(int w, int h) {
    if (h < 0 || w < 0 || (w > 0 && INT_MAX / w < h))
        return -1;
    return h * w;
}
