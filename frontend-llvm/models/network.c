// Defines: htons htonl ntohs ntohl inet_addr
#pragma once
#include "proviso.h"

// Byte order of networks.

unsigned short htons(unsigned short x) { return __builtin_bswap16(x); }
unsigned short ntohs(unsigned short x) { return __builtin_bswap16(x); }
unsigned htonl(unsigned x) { return __builtin_bswap32(x); }
unsigned ntohl(unsigned x) { return __builtin_bswap32(x); }

// Addresses as numbers: of bytes with dots between them, of which the last stands for all that are left.

static _Bool proviso_address_digit(char c, unsigned base, unsigned *value) {
    unsigned digit = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : 16;
    *value = digit;
    return digit < base;
}

unsigned inet_addr(const char *text) {
    const unsigned none = -1;
    unsigned address = 0, most = none, digit;
    for (unsigned part = 0;; part++) {
        if (*text < '0' || *text > '9')
            return none;
        unsigned base = 10;
        if (*text == '0') {
            base = 8;
            if ((text[1] | 0x20) == 'x' && proviso_address_digit(text[2], 16, &digit)) {
                base = 16;
                text += 2;
            }
        }
        unsigned long long value = 0;
        for (; proviso_address_digit(*text, base, &digit); text++) {
            value = value * base + digit;
            if (value > none)
                return none;
        }
        if (*text != '.') {
            _Bool ends = !*text || *text == ' ' || (*text >= '\t' && *text <= '\r');
            return ends && value <= most ? __builtin_bswap32(address | (unsigned)value) : none;
        }
        if (part == 3 || value > 255)
            return none;
        address |= (unsigned)value << (24 - 8 * part);
        most >>= 8;
        text++;
    }
}
