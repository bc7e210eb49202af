// Structures of every size are passed and returned by value, in registers or in memory.
#include "../verify.h"

struct s1 { char c; };
struct s3 { char c[3]; };
struct s6 { short a, b, c; };
struct s8 { float f; int i; };
struct s16 { double d; long l; };
struct s24 { long a, b, c; };

static struct s1 f1(struct s1 s) { s.c++; return s; }
static struct s3 f3(struct s3 s) { s.c[2]++; return s; }
static struct s6 f6(struct s6 s) { s.b++; return s; }
static struct s8 f8(struct s8 s) { s.i++; s.f *= 2; return s; }
static struct s16 f16(struct s16 s) { s.l++; s.d += 0.5; return s; }
static struct s24 f24(struct s24 s) { s.c = s.a + s.b; return s; }

int main(void) {
    unsigned char n = __VERIFIER_nondet_uchar() & 63;
    check(f1((struct s1){(char)n}).c == n + 1);
    check(f3((struct s3){{1, 2, (char)n}}).c[2] == n + 1);
    check(f6((struct s6){1, (short)n, 3}).b == n + 1);
    struct s8 e = f8((struct s8){1.5f, n});
    check(e.f == 3.0f && e.i == n + 1);
    struct s16 s = f16((struct s16){1.0, n});
    check(s.d == 1.5 && s.l == n + 1);
    struct s24 t = f24((struct s24){n, 2 * n, 0});
    check(t.c == 3 * n);
    wrong(t.c != 60);
    return 0;
}
