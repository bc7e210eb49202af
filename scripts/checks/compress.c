// bzip2: compresses any eight bytes.
#include <bzlib.h>

extern char __VERIFIER_nondet_char(void);

int main(void) {
    char bytes[8], out[700];
    unsigned length = sizeof out;
    for (int i = 0; i < 8; i++)
        bytes[i] = __VERIFIER_nondet_char();
    return BZ2_bzBuffToBuffCompress(out, &length, bytes, sizeof bytes, 1, 0, 0);
}
