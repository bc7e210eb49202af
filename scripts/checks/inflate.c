// zlib: inflates any eight bytes, without a header.
#include <zlib.h>

extern unsigned char __VERIFIER_nondet_uchar(void);

int main(void) {
    unsigned char bytes[8], out[64];
    for (int i = 0; i < 8; i++)
        bytes[i] = __VERIFIER_nondet_uchar();
    z_stream stream = {.next_in = bytes, .avail_in = sizeof bytes, .next_out = out, .avail_out = sizeof out};
    if (inflateInit2(&stream, -15) != Z_OK)
        return 1;
    int result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return result;
}
