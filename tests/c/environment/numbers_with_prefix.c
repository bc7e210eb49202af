// run: --property valid-deref => TRUE
// run: -DBEHIND --property valid-deref => FALSE(valid-deref)
// run: -DPREFIX --property valid-deref => FALSE(valid-deref)
// Characters of arguments, one after the other: after two that are not null there is a third one.
#include <stdlib.h>

static int classify(const char *text) {
    if (text[0] == '-' && text[1] == '-')
        return text[2] == '\0';
    char prefix = text[0] == '0' ? text[1] : '\0';
    if ((prefix | 0x20) == 'x')
        return text[2] == '\0';
#ifdef PREFIX
    if (text[0] == '0' && prefix != 'x')
        return text[2] == '\0'; // wrong
#endif
    return 0;
}

int main(int argc, char **argv) {
    unsigned long sum = 0;
    for (int i = 1; i < argc; i++) {
        char *end;
        sum += (unsigned long)strtol(argv[i], &end, 0);
        if (end == argv[i] || *end != '\0')
            return 1;
        sum += strtoul(argv[i], NULL, 16) + (unsigned)classify(argv[i]);
#ifdef BEHIND
        sum += (unsigned char)end[1]; // wrong
#endif
    }
    return sum & 1;
}
