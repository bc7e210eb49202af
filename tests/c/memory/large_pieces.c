// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: --32 => TRUE
// run: --32 -DBUG => FALSE(unreach-call)
#include "../verify.h"

#define N 5000

static unsigned words[N];

/* An array too large for a choice between cells is read and written in words, bytes, and across words. */
int main(void) {
    unsigned at = __VERIFIER_nondet_uint(), value = __VERIFIER_nondet_uint();
    unsigned byte = __VERIFIER_nondet_uint();
    if (at >= N - 2 || byte >= 4)
        return 0;
    words[at] = value;
    words[at + 1] = ~value;
    unsigned char *bytes = (unsigned char *)words;
    check(bytes[4 * at + byte] == (unsigned char)(value >> 8 * byte));
    bytes[4 * at + byte] = 0xab;
    unsigned expected = (value & ~(0xffu << 8 * byte)) | 0xabu << 8 * byte;
    check(words[at] == expected);
    check(words[at + 1] == ~value);
    unsigned short across;
    __builtin_memcpy(&across, bytes + 4 * at + 3, 2);
    check((across & 0xff) == expected >> 24);
#ifdef BUG
    check(across >> 8 == (value & 0xff)); // wrong
#else
    check(across >> 8 == (~value & 0xff));
#endif
    check(words[at + 2] == 0 && words[0] == (at == 0 ? expected : 0));
    return 0;
}
