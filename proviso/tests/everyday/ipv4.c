/* Classifies IPv4 addresses, optionally with a prefix length. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int parse(const char *text, unsigned *address)
{
    unsigned value = 0;
    for (int i = 0; i < 4; i++) {
        char *end;
        if (*text < '0' || *text > '9')
            return -1;
        unsigned long part = strtoul(text, &end, 10);
        if (part > 255)
            return -1;
        value = value << 8 | (unsigned)part;
        if (i < 3 && *end != '.')
            return -1;
        text = i < 3 ? end + 1 : end;
    }
    *address = value;
    return *text == '\0' ? 0 : -1;
}

int main(int argc, char **argv)
{
    int bad = 0;
    for (int i = 1; i < argc; i++) {
        unsigned address, length = 32;
        char *slash = strchr(argv[i], '/');
        if (slash) {
            *slash = '\0';
            length = (unsigned)atoi(slash + 1);
        }
        if (parse(argv[i], &address) != 0 || length > 32) {
            fprintf(stderr, "%s: no address\n", argv[i]);
            bad++;
            continue;
        }
        const char *kind = "public";
        if (address >> 24 == 10 || address >> 20 == 0xac1 || address >> 16 == 0xc0a8)
            kind = "private";
        else if (address >> 24 == 127)
            kind = "loopback";
        else if (address >> 28 == 14)
            kind = "multicast";
        else if (address == 0xffffffff)
            kind = "broadcast";
        unsigned mask = length ? 0xffffffffu << (32 - length) : 0;
        printf("%s: %s%s\n", argv[i], kind, slash && (address & ~mask) == 0 ? " network" : "");
    }
    return bad > 0 ? 1 : argc < 2 ? 2 : 0;
}
