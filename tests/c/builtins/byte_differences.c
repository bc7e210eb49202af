// run: -mavx2 => TRUE
// run: -mavx2 -DBUG => FALSE(unreach-call)
// The sums of absolute differences of bytes, as `wc -l` of coreutils counts lines with them.
#include "../verify.h"
#include <emmintrin.h>
#ifdef __AVX2__
#include <immintrin.h>
#endif

int main(void) {
    unsigned char text[16], other[16];
    unsigned expected[2] = {0, 0};
    for (int i = 0; i < 16; i++) {
        text[i] = (unsigned char)(i * 37);
        other[i] = (unsigned char)(i * 11 + 100);
        expected[i / 8] += text[i] > other[i] ? text[i] - other[i] : other[i] - text[i];
    }
    text[3] = __VERIFIER_nondet_uchar();
    expected[0] += text[3] > other[3] ? text[3] - other[3] : other[3] - text[3];
    expected[0] -= 111 > other[3] ? 111 - other[3] : other[3] - 111;
    __m128i sums = _mm_sad_epu8(_mm_loadu_si128((__m128i *)text), _mm_loadu_si128((__m128i *)other));
    long long found[2];
    _mm_storeu_si128((__m128i *)found, sums);
    check(found[0] == expected[0]);
    check(found[1] == expected[1]);
    wrong(found[0] != 600);
#ifdef __AVX2__
    __m256i wide = _mm256_sad_epu8(_mm256_set1_epi8(7), _mm256_set1_epi8((char)250));
    check(_mm256_extract_epi64(wide, 3) == 8 * 243);
#endif
    return 0;
}
