// Defines: getopt __posix_getopt getopt_long optarg optind opterr optopt
#pragma once
#include "proviso.h"

// Command-line options as in the GNU library: arguments that are no options move to the end. POSIXLY_CORRECT is not
// set. Messages have no effect.

char *optarg;
int optind = 1, opterr = 1, optopt = '?';

struct proviso_option {
    const char *name;
    int has_arg;
    int *flag;
    int val;
};

enum proviso_order { PROVISO_PERMUTE, PROVISO_STOP, PROVISO_RETURN };

static struct {
    _Bool started;
    enum proviso_order order;
    // The rest of an argument with several options.
    char *next;
    // The skipped arguments that are no options: from the first to before the last.
    int first, last;
    // The value that each call stores to `optopt`.
    int unknown;
} proviso_options;

static _Bool proviso_is_option(const char *argument) { return argument[0] == '-' && argument[1]; }

static _Bool proviso_is_end(const char *argument) { return argument[0] == '-' && argument[1] == '-' && !argument[2]; }

// Moves the skipped arguments after the following options.
static void proviso_exchange(char **argv) {
    int first = proviso_options.first, last = proviso_options.last;
    for (; last < optind && first < last; first++, last++) {
        char *option = argv[last];
        for (int i = last; i > first; i--)
            argv[i] = argv[i - 1];
        argv[first] = option;
    }
    proviso_options.first = first;
    proviso_options.last = optind;
}

// The option with this name or unique prefix. Null if there is none. Sets `*ambiguous` if there are several.
static const struct proviso_option *proviso_find_option(const struct proviso_option *all, const char *name, size_t length,
                                                 _Bool *ambiguous) {
    const struct proviso_option *found = NULL;
    for (const struct proviso_option *o = all; o->name; o++) {
        size_t n = 0;
        while (n < length && o->name[n] == name[n])
            n++;
        if (n < length)
            continue;
        if (!o->name[n]) {
            *ambiguous = 0;
            return o;
        }
        if (!found)
            found = o;
        else if (found->has_arg != o->has_arg || found->flag != o->flag || found->val != o->val)
            *ambiguous = 1;
    }
    return found;
}

static int proviso_long_option(int argc, char **argv, const char *options, const struct proviso_option *all, int *index) {
    char *end = proviso_options.next;
    while (*end && *end != '=')
        end++;
    _Bool ambiguous = 0;
    const struct proviso_option *found = proviso_find_option(all, proviso_options.next, end - proviso_options.next, &ambiguous);
    proviso_options.next = NULL;
    optind++;
    if (!found || ambiguous) {
        proviso_options.unknown = 0;
        return '?';
    }
    if (*end) {
        if (!found->has_arg) {
            proviso_options.unknown = found->val;
            return '?';
        }
        optarg = end + 1;
    } else if (found->has_arg == 1) {
        if (optind >= argc) {
            proviso_options.unknown = found->val;
            return *options == ':' ? ':' : '?';
        }
        optarg = argv[optind];
        optind++;
    }
    if (index)
        *index = found - all;
    if (!found->flag)
        return found->val;
    *found->flag = found->val;
    return 0;
}

static int proviso_short_option(int argc, char **argv, const char *options, const struct proviso_option *all, int *index) {
    char *next = proviso_options.next;
    char c = *next;
    // It is not: this tells the analyses that the string goes on.
    if (!c)
        return -1;
    next++;
    proviso_options.next = next;
    // It differs, unless the program has set `optind` to `argc` within an argument.
    if (!*next && optind != argc)
        optind++;
    const char *known = options;
    while (*known && *known != c)
        known++;
    if (!*known || c == ':' || c == ';') {
        proviso_options.unknown = c;
        return '?';
    }
    // The argument of -W is a long option.
    if (all && c == 'W' && known[1] == ';') {
        if (!*next && optind == argc) {
            proviso_options.unknown = c;
            return *options == ':' ? ':' : '?';
        }
        proviso_options.next = *next ? next : argv[optind];
        return proviso_long_option(argc, argv, options, all, index);
    }
    if (known[1] != ':')
        return c;
    if (*next) {
        optarg = next;
        if (optind != argc)
            optind++;
    } else if (known[2] != ':') {
        if (optind == argc) {
            proviso_options.unknown = c;
            c = *options == ':' ? ':' : '?';
        } else {
            optarg = argv[optind];
            optind++;
        }
    }
    proviso_options.next = NULL;
    return c;
}

// Advances to the next argument with an option. Returns -1 if there is none, 1 for a returned argument that is no option, else 0.
static int proviso_next_argument(int argc, char **argv) {
    if (proviso_options.last > optind)
        proviso_options.last = optind;
    if (proviso_options.first > optind)
        proviso_options.first = optind;
    if (proviso_options.order == PROVISO_PERMUTE) {
        if (proviso_options.first != proviso_options.last && proviso_options.last != optind)
            proviso_exchange(argv);
        else if (proviso_options.last != optind)
            proviso_options.first = optind;
        while (optind < argc && !proviso_is_option(argv[optind]))
            optind++;
        proviso_options.last = optind;
    }
    if (optind != argc && proviso_is_end(argv[optind])) {
        optind++;
        if (proviso_options.first != proviso_options.last && proviso_options.last != optind)
            proviso_exchange(argv);
        else if (proviso_options.first == proviso_options.last)
            proviso_options.first = optind;
        proviso_options.last = argc;
        optind = argc;
    }
    if (optind == argc) {
        if (proviso_options.first != proviso_options.last)
            optind = proviso_options.first;
        return -1;
    }
    if (proviso_is_option(argv[optind]))
        return 0;
    if (proviso_options.order == PROVISO_STOP)
        return -1;
    optarg = argv[optind];
    optind++;
    return 1;
}

static int proviso_take(int argc, char **argv, const char *options, const struct proviso_option *all, int *index,
                        _Bool stops) {
    optarg = NULL;
    if (optind == 0 || !proviso_options.started) {
        if (optind == 0)
            optind = 1;
        proviso_options.started = 1;
        proviso_options.first = proviso_options.last = optind;
        proviso_options.next = NULL;
        proviso_options.order = *options == '-'            ? PROVISO_RETURN
                                : *options == '+' || stops ? PROVISO_STOP
                                                           : PROVISO_PERMUTE;
    }
    if (*options == '-' || *options == '+')
        options++;
    if (!proviso_options.next || !*proviso_options.next) {
        int none = proviso_next_argument(argc, argv);
        if (none)
            return none;
        // The argument is an option, which the analyses do not derive from `none`.
        if (optind >= argc)
            return -1;
        char *argument = argv[optind];
        if (!argument[0] || !argument[1])
            return -1;
        if (all && argument[1] == '-') {
            proviso_options.next = argument + 2;
            return proviso_long_option(argc, argv, options, all, index);
        }
        proviso_options.next = argument + 1;
    }
    return proviso_short_option(argc, argv, options, all, index);
}

static int proviso_getopt(int argc, char **argv, const char *options, const struct proviso_option *all, int *index,
                          _Bool stops) {
    if (argc < 1)
        return -1;
    int option = proviso_take(argc, argv, options, all, index, stops);
    optopt = proviso_options.unknown;
    return option;
}

int getopt(int argc, char **argv, const char *options) { return proviso_getopt(argc, argv, options, NULL, NULL, 0); }

int __posix_getopt(int argc, char **argv, const char *options) {
    return proviso_getopt(argc, argv, options, NULL, NULL, 1);
}

int getopt_long(int argc, char **argv, const char *options, const struct proviso_option *all, int *index) {
    return proviso_getopt(argc, argv, options, all, index, 0);
}
