/* CRC-32, Adler-32, SHA-256 and a xorshift generator: unsigned arithmetic, rotations, tables, byte order. */
#include "report.h"
#include <stdint.h>
#include <string.h>

static uint32_t crc_table[256];
static uint32_t crc32(const uint8_t *p, size_t n) {
    if (!crc_table[1])
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t c = i;
            for (int k = 0; k < 8; k++) c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
            crc_table[i] = c;
        }
    uint32_t c = ~0u;
    while (n--) c = crc_table[(c ^ *p++) & 255] ^ c >> 8;
    return ~c;
}

static uint32_t adler32(const uint8_t *p, size_t n) {
    uint32_t a = 1, b = 0;
    while (n--) { a = (a + *p++) % 65521; b = (b + a) % 65521; }
    return b << 16 | a;
}

static const uint32_t K[64] = {
    0x428a2f98,0x71374491,0xb5c0fbcf,0xe9b5dba5,0x3956c25b,0x59f111f1,0x923f82a4,0xab1c5ed5,
    0xd807aa98,0x12835b01,0x243185be,0x550c7dc3,0x72be5d74,0x80deb1fe,0x9bdc06a7,0xc19bf174,
    0xe49b69c1,0xefbe4786,0x0fc19dc6,0x240ca1cc,0x2de92c6f,0x4a7484aa,0x5cb0a9dc,0x76f988da,
    0x983e5152,0xa831c66d,0xb00327c8,0xbf597fc7,0xc6e00bf3,0xd5a79147,0x06ca6351,0x14292967,
    0x27b70a85,0x2e1b2138,0x4d2c6dfc,0x53380d13,0x650a7354,0x766a0abb,0x81c2c92e,0x92722c85,
    0xa2bfe8a1,0xa81a664b,0xc24b8b70,0xc76c51a3,0xd192e819,0xd6990624,0xf40e3585,0x106aa070,
    0x19a4c116,0x1e376c08,0x2748774c,0x34b0bcb5,0x391c0cb3,0x4ed8aa4a,0x5b9cca4f,0x682e6ff3,
    0x748f82ee,0x78a5636f,0x84c87814,0x8cc70208,0x90befffa,0xa4506ceb,0xbef9a3f7,0xc67178f2};
#define ROR(x, n) ((x) >> (n) | (x) << (32 - (n)))

static void block(uint32_t h[8], const uint8_t *p) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++) w[i] = (uint32_t)p[4*i] << 24 | p[4*i+1] << 16 | p[4*i+2] << 8 | p[4*i+3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = ROR(w[i-15], 7) ^ ROR(w[i-15], 18) ^ w[i-15] >> 3;
        uint32_t b = ROR(w[i-2], 17) ^ ROR(w[i-2], 19) ^ w[i-2] >> 10;
        w[i] = w[i-16] + a + w[i-7] + b;
    }
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = s[7] + (ROR(s[4], 6) ^ ROR(s[4], 11) ^ ROR(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[i] + w[i];
        uint32_t t2 = (ROR(s[0], 2) ^ ROR(s[0], 13) ^ ROR(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) h[i] += s[i];
}

static void sha256(const uint8_t *p, size_t n, uint32_t h[8]) {
    static const uint32_t start[8] = {0x6a09e667,0xbb67ae85,0x3c6ef372,0xa54ff53a,0x510e527f,0x9b05688c,0x1f83d9ab,0x5be0cd19};
    uint8_t last[128] = {0};
    memcpy(h, start, sizeof start);
    size_t left = n;
    for (; left >= 64; p += 64, left -= 64) block(h, p);
    memcpy(last, p, left);
    last[left] = 0x80;
    size_t blocks = left < 56 ? 1 : 2;
    for (int i = 0; i < 8; i++) last[64 * blocks - 1 - i] = (uint64_t)n * 8 >> 8 * i;
    for (size_t i = 0; i < blocks; i++) block(h, last + 64 * i);
}

int main(void) {
    enum { N = 3000 };
    uint8_t *text = malloc(N);
    uint64_t x = 88172645463325252ull;
    for (int i = 0; i < N; i++) {
        x ^= x << 13; x ^= x >> 7; x ^= x << 17;
        text[i] = x * 0x2545f4914f6cdd1dull >> 56;
    }
    unsigned hash = 1;
    uint32_t digest[8];
    for (int n = 0; n < N; n += 411) {
        hash = fold(hash, crc32(text, n));
        hash = fold(hash, adler32(text, n));
        sha256(text, n, digest);
        for (int i = 0; i < 8; i++) hash = fold(hash, digest[i]);
    }
    sha256((const uint8_t *)"abc", 3, digest);
    if (digest[0] != 0xba7816bf || digest[7] != 0xf20015ad) hash = 0;
    if (crc32((const uint8_t *)"123456789", 9) != 0xcbf43926) hash = 0;
    free(text);
    report(hash);
}
