#include "../verify.h"

struct point { int x, y; };
struct line { struct point from, to; char name[4]; };

static struct line make(int a, int b) {
    struct line l = {{a, b}, {.y = a, .x = b}, "ab"};
    return l;
}
static int dot(struct line l) { return l.from.x * l.to.y; }

int main(void) {
    signed char a = __VERIFIER_nondet_schar(), b = __VERIFIER_nondet_schar();
    struct line l = make(a, b), copy = l;
    check(dot(l) == a * a);
    copy.from.x = 0;
    check(l.from.x == a && l.to.x == b);
    check(l.name[0] == 'a' && l.name[2] == 0);
    struct point *p = &l.to;
    p->x++;
    check(l.to.x == b + 1);
    wrong(dot(l) != 49 || b != 3);
    return 0;
}
