// Executions that are infinite only if inputs of one place differ: parsers that hang on certain bytes.
// run: -DNAMES --property termination => FALSE(termination)
// run: -DNAMES -DRIGHT --property termination => TRUE
// run: -DORDER --property termination => FALSE(termination)
// run: -DORDER -DRIGHT --property termination => TRUE
#include "../verify.h"

// A name in DNS: labels, and pointers to the continuation.
int name(const unsigned char *m, unsigned len) {
    unsigned pos = 0, l, to;
    for (;;) {
        if (pos >= len) // wrong
            return -1;
        l = m[pos++];
        if (l == 0)
            return 0;
        if ((l & 0xc0) == 0xc0) {
            if (pos >= len)
                return -1;
            to = (l & 0x3f) << 8 | m[pos];
#ifdef RIGHT
            if (to <= pos)
                return -1;
#else
            if (to >= pos)
                return -1;
#endif
            pos = to;
            continue;
        }
        pos += l;
    }
}

int main(void) {
#ifdef NAMES
    unsigned char m[8];
    unsigned n = __VERIFIER_nondet_uint() % 9;
    for (unsigned i = 0; i < n; i++)
        m[i] = __VERIFIER_nondet_uchar();
    return name(m, n);
#else
    // Inputs that the loop itself reads: 7, and then always 3.
    int state = 0;
    while (state < 2) { // wrong
        int x = __VERIFIER_nondet_int();
        if (state == 0)
            state = x == 7 ? 1 : 2;
#ifdef RIGHT
        else
            state = 2;
#else
        else if (x != 3)
            state = 2;
#endif
    }
    return 0;
#endif
}
