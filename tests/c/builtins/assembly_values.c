// run: => TRUE
// run: -DWRONG => UNKNOWN
// run: -DPOINTER => UNKNOWN
// run: -DCLOBBER => UNKNOWN
// run: -DSYMBOL => UNKNOWN
// run: -DADDRESS => UNKNOWN
// run: -DADDRESS --property unreach-call => UNKNOWN
// run: --property unreach-call => TRUE
// Assembly that only has registers as results, and declares no other effect, computes arbitrary values.
#include "../verify.h"

static int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
int unchanged = 5;

int main(void) {
    unsigned a = 0, b, c, d;
#ifdef CLOBBER
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(a) : "memory");
#elif defined(SYMBOL)
    __asm__ volatile("incl unchanged\n cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(a));
#else
    __asm__ volatile("cpuid" : "=a"(a), "=b"(b), "=c"(c), "=d"(d) : "0"(a));
#endif
    check(unchanged == 5);
    int sum = table[a & 7] + table[b % 8];
    check(sum >= 2 && sum <= 16);
#ifdef WRONG
    check((c | d) == 0 || c > d);
#endif
    // A product of two words.
    unsigned long low, high, factor = a;
    __asm__("mulq %3" : "=a"(low), "=d"(high) : "%0"(factor), "rm"(factor));
    sum += table[high % 8];
    check(sum >= 3 && sum <= 24);
#ifdef ADDRESS
    unsigned long address = (unsigned long)&unchanged, same;
    __asm__("movq %1, %0" : "=r"(same) : "r"(address));
    *(int *)same = 6;
    check(unchanged == 5);
#endif
#ifdef POINTER
    int *p = &unchanged, *q;
    __asm__ volatile("lea (%1), %0" : "=r"(q) : "r"(p));
    *q = 6;
    check(unchanged == 6);
#endif
    return 0;
}
