/* TRUE, and FALSE with -DBUG: zlib's inflate on a stored block with unknown length, check and content. With zlib's sources:
 *   cd zlib && proviso verify PATH/inflate.c inflate.c inftrees.c inffast.c adler32.c crc32.c zutil.c -I. */
#include "zlib.h"
#include <string.h>
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);

int main(void) {
    unsigned char in[10] = {0x78, 0x9c, 0x01}, out[4];
    for (unsigned i = 3; i < sizeof in; i++)
        in[i] = __VERIFIER_nondet_uchar();
    z_stream s;
    memset(&s, 0, sizeof s);
    s.next_in = in, s.avail_in = sizeof in, s.next_out = out, s.avail_out = sizeof out;
    if (inflateInit(&s) != Z_OK)
        return 0;
    int r = inflate(&s, Z_NO_FLUSH);
    unsigned length = in[3] | in[4] << 8, check = in[5] | in[6] << 8;
    if (s.total_in > sizeof in || s.total_out > sizeof out)
        reach_error(); /* wrong */
    if (length != (check ^ 0xffff) ? r != Z_DATA_ERROR : s.total_out > length)
        reach_error(); /* wrong */
    for (unsigned i = 0; i < s.total_out; i++)
        if (out[i] != in[7 + i])
            reach_error(); /* wrong */
#ifdef BUG
    if (s.total_out == 3 && out[2] == 'z')
        reach_error(); /* wrong */
#endif
    inflateEnd(&s);
    return 0;
}
