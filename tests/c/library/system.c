// Byte order, options of a command line, scheduling.
#include "../verify.h"
#include <arpa/inet.h>
#include <getopt.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

int main(void) {
    unsigned x = __VERIFIER_nondet_uint();
    check(ntohl(htonl(x)) == x && ntohs(htons(x)) == (unsigned short)x);
    check(htonl(x) >> 24 == (x & 255));
    wrong(htons(x) != 0x1234);

    char *argv[] = {"program", "word", "-ab", "value", "--all=3", "-x", NULL};
    const struct option all[] = {{"all", required_argument, NULL, 9}, {NULL, 0, NULL, 0}};
    int argc = 6, flags = 0, c;
    while ((c = getopt_long(argc, argv, "ab:", all, NULL)) != -1) {
        if (c == 'a')
            flags |= 1;
        else if (c == 'b' && !strcmp(optarg, "value"))
            flags |= 2;
        else if (c == 9 && optarg[0] == '3')
            flags |= 4;
        else if (c == '?' && optopt == 'x')
            flags |= 8;
    }
    check(flags == 15 && optind == 5 && !strcmp(argv[5], "word"));
    check(sched_yield() == 0 && __builtin_bswap64(1) == 1ull << 56);
    return 0;
}
