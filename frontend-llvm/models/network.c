// Defines: htons htonl ntohs ntohl inet_addr inet_aton inet_ntoa inet_ntop inet_pton
#pragma once
#include "proviso.h"

// Byte order of networks.

unsigned short htons(unsigned short x) { return __builtin_bswap16(x); }
unsigned short ntohs(unsigned short x) { return __builtin_bswap16(x); }
unsigned htonl(unsigned x) { return __builtin_bswap32(x); }
unsigned ntohl(unsigned x) { return __builtin_bswap32(x); }

// Addresses as numbers: bytes separated by dots. The last number fills all remaining bytes.

static _Bool proviso_address_digit(char c, unsigned base, unsigned *value) {
    unsigned digit = c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : 16;
    *value = digit;
    return digit < base;
}

static _Bool proviso_read_address(const char *text, unsigned *result) {
    const unsigned none = -1;
    unsigned address = 0, most = none, digit;
    for (unsigned part = 0;; part++) {
        if (*text < '0' || *text > '9')
            return 0;
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
                return 0;
        }
        if (*text != '.') {
            _Bool ends = !*text || *text == ' ' || (*text >= '\t' && *text <= '\r');
            if (!ends || value > most)
                return 0;
            *result = __builtin_bswap32(address | (unsigned)value);
            return 1;
        }
        if (part == 3 || value > 255)
            return 0;
        address |= (unsigned)value << (24 - 8 * part);
        most >>= 8;
        text++;
    }
}

unsigned inet_addr(const char *text) {
    unsigned address;
    return proviso_read_address(text, &address) ? address : -1u;
}

int inet_aton(const char *text, unsigned *result) {
    unsigned address;
    if (!proviso_read_address(text, &address))
        return 0;
    if (result)
        *result = address;
    return 1;
}

// Prints four numbers, branching only on their lengths. Returns the length.
static int proviso_print_address(const unsigned char *bytes, char text[16]) {
    int n = 0;
    for (int i = 0; i < 4; i++) {
        if (bytes[i] >= 100)
            text[n++] = '0' + bytes[i] / 100;
        if (bytes[i] >= 10)
            text[n++] = '0' + bytes[i] / 10 % 10;
        text[n++] = '0' + bytes[i] % 10;
        text[n++] = i < 3 ? '.' : 0;
    }
    return n - 1;
}

char *inet_ntoa(unsigned address) {
    static char text[18];
    proviso_print_address((const unsigned char *)&address, text);
    return text;
}

enum { PROVISO_IPV4 = 2, PROVISO_IPV6 = 10 };
#define PROVISO_IPV6_TEXT "addresses of IPv6 as text are not modelled exactly"

// From `::` to an address of IPv6 that ends with one of IPv4.
static const char *proviso_print_ipv6(const void *address, char *buffer, unsigned size) {
    proviso_put_out(address, 16);
    __proviso_overapproximated(PROVISO_IPV6_TEXT);
    unsigned length = proviso_env_between(2, 45);
    if (length >= size) {
        SET_ERRNO(ENOSPC);
        return NULL;
    }
    __proviso_env_memory(buffer, length);
    buffer[length] = 0;
    return buffer;
}

const char *inet_ntop(int family, const void *address, char *buffer, unsigned size) {
    char text[16];
    if (family == PROVISO_IPV6)
        return proviso_print_ipv6(address, buffer, size);
    if (family != PROVISO_IPV4) {
        SET_ERRNO(EAFNOSUPPORT);
        return NULL;
    }
    int length = proviso_print_address(address, text);
    if ((unsigned)length >= size) {
        SET_ERRNO(ENOSPC);
        return NULL;
    }
    __builtin_memcpy(buffer, text, length + 1);
    return buffer;
}

static int proviso_read_ipv6(const char *text, void *result) {
    proviso_strlen(text);
    __proviso_overapproximated(PROVISO_IPV6_TEXT);
    if (!__proviso_env_bool())
        return 0;
    __proviso_env_memory(result, 16);
    return 1;
}

// Four decimal numbers without leading zeros.
int inet_pton(int family, const char *text, void *result) {
    if (family == PROVISO_IPV6)
        return proviso_read_ipv6(text, result);
    if (family != PROVISO_IPV4) {
        SET_ERRNO(EAFNOSUPPORT);
        return -1;
    }
    unsigned char bytes[4];
    for (int i = 0; i < 4; i++) {
        unsigned value = 0, digits = 0;
        for (; *text >= '0' && *text <= '9'; text++, digits++) {
            if (digits > 0 && value == 0)
                return 0;
            value = value * 10 + (*text - '0');
            if (value > 255)
                return 0;
        }
        if (digits == 0 || *text != (i < 3 ? '.' : 0))
            return 0;
        bytes[i] = value;
        text++;
    }
    __builtin_memcpy(result, bytes, 4);
    return 1;
}
