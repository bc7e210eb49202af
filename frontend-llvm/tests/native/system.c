// Small functions of several headers: byte order, scheduling, options of command lines.
#include "harness.h"
#include <arpa/inet.h>
#include <getopt.h>
#include <iconv.h>
#include <sched.h>
#include <unistd.h>

DRIVER(htons) { see(LIB(htons)(random_bits())); }
DRIVER(htonl) { see(LIB(htonl)(random_bits())); }
DRIVER(ntohs) { see(LIB(ntohs)(random_bits())); }
DRIVER(ntohl) { see(LIB(ntohl)(random_bits())); }

// A text that is an address or resembles one.
static char *address_text(void) {
    char text[80] = "";
    for (unsigned parts = random_below(3) ? 4 : 1 + random_below(5), n = 0; n < parts; n++) {
        unsigned value = random_below(3) ? random_below(300) : random_bits();
        sprintf(text + strlen(text), ONE_OF("%u", "%u", "%u", "%u", "0x%X", "0%o", "%x", " %u"), value);
        strcat(text, n + 1 < parts ? "." : ONE_OF("", "", " a", "\n", ".", "a", "9", "0xg"));
    }
    return text_in_room(text);
}
DRIVER(inet_addr) { see(LIB(inet_addr)(address_text())); }
DRIVER(inet_aton) {
    char *text = address_text();
    see(LIB(inet_aton)(text, random_below(4) ? room(sizeof(struct in_addr)) : NULL));
}
DRIVER(inet_pton) {
    char *text = random_below(2) ? address_text() : text_in_room(ONE_OF("1.2.3.4", "255.255.255.255", "01.2.3.4", "0.0.0.0"));
    see(LIB(inet_pton)(ONE_OF(AF_INET, AF_INET, 99), text, room(sizeof(struct in_addr))));
}
DRIVER(inet_ntop) {
    struct in_addr address = {random_below(2) ? random_bits() : random_bits() & 0x0fff1f07};
    unsigned size = random_below(20);
    see_pointer(LIB(inet_ntop)(ONE_OF(AF_INET, AF_INET, 99), &address, room(size), size));
    see_text(LIB(inet_ntoa)(address));
}

DRIVER(sched_yield) { see(LIB(sched_yield)()); }
DRIVER(sched_cpucount) {
    cpu_set_t set;
    for (unsigned i = 0; i < sizeof set / 8; i++)
        ((uint64_t *)&set)[i] = random_bits();
    see(LIB(__sched_cpucount)(random_below(17) * 8, &set));
}
DRIVER(sched_getaffinity) {
    asks_environment();
    cpu_set_t set;
    CPU_ZERO(&set);
    size_t size = ONE_OF(0, 8, sizeof set);
    int result = LIB(sched_getaffinity)(0, size, &set);
    NATIVELY {
        suggest_nothing();
        suggest(result);
        suggest_bytes(&set, size);
        int first = 0;
        while (first < 127 && !((char *)&set)[first])
            first++;
        suggest(first);
    }
    see(result);
    see(CPU_COUNT(&set));
}
DRIVER(iconv) {
    may_approximate();
    iconv_t conversion = LIB(iconv_open)(ONE_OF("UTF-8", "ASCII", "no such encoding"), "ISO-8859-1");
    see(conversion == (iconv_t)-1);
    if (conversion == (iconv_t)-1)
        return;
    char *text = random_string(9, "ab\344"), *from = text, *to = room(8);
    size_t left = strlen(text), space = random_below(9), before = left, space_before = space;
    size_t result = LIB(iconv)(conversion, &from, &left, &to, &space);
    NATIVELY {
        suggest_nothing();
        suggest(result), suggest(before - left), suggest(space_before - space);
        suggest_bytes(to - (space_before - space), space_before - space);
        if (result == (size_t)-1)
            suggest(errno_before);
    }
    see(result);
    see_pointer(from);
    see_pointer(to);
    see(left);
    see(space);
    see(LIB(iconv_close)(conversion));
}
DRIVER(sched_get_priority_max) { see(LIB(sched_get_priority_max)((int)random_below(8) - 1)); }
DRIVER(sched_get_priority_min) { see(LIB(sched_get_priority_min)((int)random_below(8) - 1)); }

enum { MOST = 6 };

// A command line with known and unknown options.
static int arguments(char *argv[MOST + 1]) {
    int argc = 1 + random_below(MOST);
    argv[0] = text_in_room("program");
    for (int i = 1; i < argc; i++) {
        switch (random_below(3)) {
        case 0:
            argv[i] = text_in_room(ONE_OF("--", "-", "-a", "-bx", "-b", "-c", "-cy", "-ac", "word", "--alpha", "--alpha=3",
                                          "--al", "--b", "--beta", "--beta=", "--gamma=7", "--gam", "--delta", "-x", ""));
            break;
        case 1:
            argv[i] = random_string(4, "-abcx:;=");
            break;
        default:
            argv[i] = random_string(3, "-ab");
            break;
        }
    }
    argv[argc] = NULL;
    return argc;
}

static void see_options(int argc, char **argv, int (*next)(int, char **)) {
    // Resets the state of the last command line, and sets `optopt` to a known value by an unknown option.
    LIB(opterr) = 0;
    LIB(optind) = 0;
    LIB(getopt)(2, (char *[]){"program", "-x", NULL}, "");
    LIB(optind) = 0;
    for (int i = 0; i < 4 * MOST; i++) {
        int c = next(argc, argv);
        see(c);
        see(LIB(optind));
        see(LIB(optopt));
        see_text(LIB(optarg));
        if (c == -1)
            break;
    }
    for (int i = 0; i < argc; i++)
        see_text(argv[i]);
}

static const char *options;
static int next_getopt(int argc, char **argv) { return LIB(getopt)(argc, argv, options); }

#define OPTIONS ONE_OF("ab:c::", "+ab:c::", "-ab:c::", ":ab:c::", "a:b::c", "", "-", "+:ab:", "a:a")

DRIVER(getopt) {
    char *argv[MOST + 1];
    int argc = arguments(argv);
    options = OPTIONS;
    see_options(argc, argv, next_getopt);
}

static int flag, found;
static const struct option long_options[] = {
    {"alpha", no_argument, NULL, 1},       {"alphabet", required_argument, NULL, 2}, {"beta", required_argument, NULL, 'b'},
    {"gamma", optional_argument, NULL, 4}, {"gamble", optional_argument, NULL, 4},   {"delta", no_argument, &flag, 5},
    {NULL, 0, NULL, 0},
};
static int next_getopt_long(int argc, char **argv) {
    flag = found = -1;
    int c = LIB(getopt_long)(argc, argv, options, long_options, &found);
    see(flag);
    see(found);
    return c;
}

DRIVER(getopt_long) {
    char *argv[MOST + 1];
    int argc = arguments(argv);
    options = OPTIONS;
    see_options(argc, argv, next_getopt_long);
}
