// pwd.h, grp.h, netdb.h: the databases of the system.
#include "harness.h"
#include <arpa/inet.h>
#include <grp.h>
#include <netdb.h>
#include <pwd.h>
#include <unistd.h>

// The value of `errno` afterwards is not specified: 0, unchanged, or an error of accesses to files and servers.

// Suggests a string with its null.
static void suggest_string(const char *text) {
    suggest(strlen(text) + 1);
    suggest_bytes(text, strlen(text) + 1);
}
static void suggest_user(struct passwd *user, _Bool by_name) {
    NATIVELY {
        suggest_nothing();
        if (user) {
            if (!by_name)
                suggest_string(user->pw_name);
            suggest_string(user->pw_passwd);
            if (by_name)
                suggest(user->pw_uid);
            suggest(user->pw_gid);
            suggest_string(user->pw_gecos);
            suggest_string(user->pw_dir);
            suggest_string(user->pw_shell);
        }
    }
}
static void see_user(struct passwd *user) {
    see(user != NULL);
    if (user) {
        see_text(user->pw_name), see_text(user->pw_passwd), see_text(user->pw_gecos);
        see_text(user->pw_dir), see_text(user->pw_shell);
        see(user->pw_uid), see(user->pw_gid);
    }
}
DRIVER(getpwnam) {
    asks_environment();
    struct passwd *user = LIB(getpwnam)(text_in_room(ONE_OF("root", "nobody", "no such user")));
    LIB_ERRNO = 0;
    suggest_user(user, 1);
    see_user(user);
}
DRIVER(getpwuid) {
    asks_environment();
    struct passwd *user = LIB(getpwuid)(ONE_OF(0, 1, 123456));
    LIB_ERRNO = 0;
    suggest_user(user, 0);
    see_user(user);
}
DRIVER(getgrgid) {
    asks_environment();
    struct group *group = LIB(getgrgid)(ONE_OF(0, 123456));
    LIB_ERRNO = 0;
    NATIVELY {
        suggest_nothing();
        if (group) {
            suggest_string(group->gr_name);
            suggest_string(group->gr_passwd);
            suggest(0);
        }
    }
    see(group != NULL);
    if (group) {
        see_text(group->gr_name);
        see(group->gr_gid);
        see(group->gr_mem[0] == NULL);
    }
}
DRIVER(getaddrinfo) {
    asks_environment();
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST}, *list;
    int error = LIB(getaddrinfo)(ONE_OF("127.0.0.1", "10.1.2.3", "no number"), "80", random_below(4) ? &hints : NULL, &list);
    see(error);
    if (error == 0) {
        NATIVELY {
            suggest_nothing();
            for (struct addrinfo *at = list; at; at = at->ai_next)
                suggest_bytes(at->ai_addr, at->ai_addrlen);
        }
        see(list->ai_family);
        see(list->ai_socktype);
        see(list->ai_protocol);
        see(list->ai_addrlen);
        LIB(freeaddrinfo)(list);
    }
}

DRIVER(getgrouplist) {
    asks_environment();
    unsigned size = random_below(3);
    gid_t *groups = room(4 * size);
    int count = size, result = LIB(getgrouplist)(ONE_OF("root", "no such user"), 1234, groups, &count);
    LIB_ERRNO = 0;
    NATIVELY {
        suggest_nothing();
        suggest(count);
        suggest_bytes(groups, 4 * (count < (int)size ? count : size));
    }
    see(result);
    see(count);
}
