// Copies and fills of unknown length at unknown places, in objects of any size.
// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: --analysis symex => TRUE
// run: --analysis symex-merging => TRUE
// native: no
#include "../verify.h"
#include <stdlib.h>
#include <string.h>

struct pair {
    int key;
    struct pair *next;
};

int main(void) {
    size_t n = __VERIFIER_nondet_ulong(), from = __VERIFIER_nondet_ulong(), i = __VERIFIER_nondet_ulong();
    if (n == 0 || n > 1 << 20 || from > n || i >= n)
        return 0;
    unsigned char *a = malloc(n), *b = malloc(n);
    // The old content is arbitrary; after the copy, the filling remains.
    memset(b, 5, n);
    memcpy(b, a + from, n - from);
    check(i < n - from ? b[i] == a[from + i] : b[i] == 5);
    // Overlapping, in both directions.
    unsigned char at = a[i];
    if (i >= from) {
        memmove(a, a + from, n - from);
        check(a[i - from] == at);
        memmove(a + from, a, n - from);
        check(a[i] == at);
    }
    memset(a + from, 0, n - from);
    wrong(a[i] == 0 || b[i] != 77);

    // Whole structures, in objects whose elements are words.
    size_t count = __VERIFIER_nondet_ulong(), k = __VERIFIER_nondet_ulong();
    if (count == 0 || count > 1000 || k >= count)
        return 0;
    struct pair *list = calloc(count, sizeof *list), *more = malloc((count + 1) * sizeof *more);
    list[k].key = 3;
    list[k].next = list;
    memcpy(more + 1, list, count * sizeof *list);
    check(more[k + 1].key == 3 && more[k + 1].next == list);
    more[k + 1].next->key = 4;
    check(list[0].key == 4);

    // Part of a small object.
    char text[8] = "abcdefg", other[8] = "1234567";
    size_t few = __VERIFIER_nondet_ulong();
    if (few > 7)
        return 0;
    memcpy(other, text, few);
    check(few < 7 ? other[6] == '7' : other[6] == 'g');
    check(few == 0 || other[0] == 'a');
    memset(other, 'x', few);
    check(few == 0 || other[few - 1] == 'x');
    wrong(few != 5 || other[4] != 'x');
    // Zero bytes, at no object.
    memcpy(NULL, NULL, few & 8);
    return 0;
}
