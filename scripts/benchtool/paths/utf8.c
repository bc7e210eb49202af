/* A checker of UTF-8: N bytes, counted as characters. */
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);
#ifndef N
#define N 6
#endif

int main(void) {
    unsigned char s[N];
    for (int i = 0; i < N; i++)
        s[i] = __VERIFIER_nondet_uchar();
    int characters = 0, wide = 0;
    for (int i = 0; i < N; characters++) {
        unsigned char c = s[i++];
        int more = c < 0x80 ? 0 : c < 0xc2 ? -1 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf5 ? 3 : -1;
        if (more < 0)
            return 1;
        for (int k = 0; k < more; k++, wide++) {
            if (i == N || (s[i] & 0xc0) != 0x80)
                return 1;
            if (k == 0 && ((c == 0xe0 && s[i] < 0xa0) || (c == 0xed && s[i] > 0x9f) || (c == 0xf0 && s[i] < 0x90)))
                return 1;
            i++;
        }
    }
    if (characters + wide != N)
        reach_error();
    return 0;
}
