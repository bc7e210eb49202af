/* Claims about checksums of zlib, one of which does not hold. With zlib's sources:
 *   proviso testgen checksums.c adler32.c crc32.c --cotest --analysis predicate --external esbmc -o suite --save-gia known.html -- -I. */
#include "zlib.h"
extern unsigned __VERIFIER_nondet_uint(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);

int main(void) {
    unsigned char data[4];
    switch (__VERIFIER_nondet_uchar()) {
    case 0: { /* The product of two polynomials does not depend on their order. */
        unsigned a = __VERIFIER_nondet_uchar(), b = __VERIFIER_nondet_uchar();
        if (a != 0 && b != 0 && crc32_combine_op(a << 24, 0, b << 24) != crc32_combine_op(b << 24, 0, a << 24))
            reach_error();
        break;
    }
    case 1: { /* The checksum of no bytes is the initial value. */
        unsigned begin = __VERIFIER_nondet_uint();
        if (adler32(begin, data, 0) != begin)
            reach_error(); /* does not hold: adler32 reduces the sums below 65521 */
        break;
    }
    case 2: { /* Both sums stay below 65521. */
        for (unsigned i = 0; i < sizeof data; i++)
            data[i] = __VERIFIER_nondet_uchar();
        unsigned sum = adler32(__VERIFIER_nondet_uint() & 0x7fff7fff, data, sizeof data);
        if ((sum & 0xffff) >= 65521 || sum >> 16 >= 65521)
            reach_error();
        break;
    }
    case 3: { /* The sum keeps its initial value as long as there are no bytes. */
        unsigned begin = adler32(__VERIFIER_nondet_uint(), data, 0), sum = begin, bytes = 0;
        while (__VERIFIER_nondet_uchar()) {
            data[0] = __VERIFIER_nondet_uchar();
            sum = adler32(sum, data, 1);
            bytes = 1;
        }
        if (!bytes && sum != begin)
            reach_error();
        break;
    }
    }
    return 0;
}
