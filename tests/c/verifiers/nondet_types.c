// Inputs of every type, with the names of CBMC and ESBMC.
#include "../verify.h"
#include <stddef.h>
#include <stdint.h>

struct small {
    char tag;
    int value;
};
struct mixed {
    double d;
    short s;
};
typedef struct {
    int a[10];
    struct small last;
    void *p;
} big;
union word {
    float f;
    unsigned u;
};
enum color { red, green, blue };

struct small nondet_small(void);
struct mixed nondet_mixed(void);
big nondet_big(void);
union word nondet_word();
enum color nondet_color(void);
uint16_t nondet_uint16_t(void);
int *nondet_int_pointer(void);
__int128 nondet_wide(void);
_Bool nondet_flag(void);

int main(void) {
    struct small s = nondet_small();
    struct mixed m = nondet_mixed();
    big b = nondet_big();
    union word w = nondet_word();
    uint16_t h = nondet_uint16_t();
    check(h <= 65535);
    _Bool flag = nondet_flag();
    check(flag == 0 || flag == 1);
    __ESBMC_assume(s.tag == 'x' && m.d > 1.5 && m.s == -2);
    __ESBMC_assert(s.tag != 'y', "assumed");
    if (b.a[9] == 12 && b.last.value == 13 && b.last.tag == 'z' && w.u == 0x3f800000)
        check(w.f == 1.0f);
    wrong(s.value != 77 || b.a[9] != 12 || b.last.tag != 'z' || w.f != 2.5f || nondet_color() != blue || h != 4000 ||
          nondet_wide() >= 0 || nondet_int_pointer() == NULL || flag);
    return 0;
}
