// Defines: getpwnam getpwuid getpwent setpwent endpwent getpwnam_r getpwuid_r getgrnam getgrgid getgrent setgrent endgrent
// Defines: getaddrinfo freeaddrinfo gai_strerror getnameinfo getgrouplist getutxent getutxid getutxline setutxent endutxent
// Defines: utmpxname
#pragma once
#include "unistd.c"

// pwd.h, grp.h, utmpx.h, netdb.h: the system's databases of users, groups and hosts. The environment determines them, and they may change between calls.

// A string of the library, shorter than `most` bytes.
static char *proviso_some_string(size_t most) {
    size_t size = __proviso_env_size();
    __proviso_assume((size > 0) & (size <= most));
    // Exhausted memory is one of the errors of the callers.
    char *text = __proviso_make_text(size);
    text[size - 1] = 0;
    return text;
}

static char *proviso_string_copy(const char *s) {
    size_t size = proviso_strlen(s) + 1;
    char *copy = __proviso_make_internal(size);
    __builtin_memcpy(copy, s, size);
    return copy;
}

struct proviso_user {
    char *name, *password;
    unsigned user, group;
    char *about, *folder, *shell;
};

// Returns whether there is an entry. In either case `errno` is arbitrary or unchanged.
static _Bool proviso_is_known(void) {
    SET_ERRNO_IF(__proviso_env_bool(), proviso_env_between(0, 133));
    return __proviso_env_bool();
}

// The strings of a result are in memory of the library, which the next query overwrites or frees. Returns true if this
// query does. Programs that no longer access the strings do not notice, so one path keeps them, without a taint.
static _Bool proviso_ends_earlier_query(const char *string) {
    if (!string || !__proviso_env_bool())
        return 0;
    __proviso_overapproximated("the result of an earlier query of a user or group is not modelled exactly");
    return 1;
}

static struct proviso_user *proviso_find_user(const char *name, const unsigned *number) {
    static struct proviso_user found, latest;
    _Bool is_known = proviso_is_known(), ends = proviso_ends_earlier_query(latest.name);
    // One statement makes the strings, so that they are known to exist before the next query.
    for (;; ends = 0) {
        if (ends) {
            __proviso_drop(latest.name);
            __proviso_drop(latest.password);
            __proviso_drop(latest.about);
            __proviso_drop(latest.folder);
            __proviso_drop(latest.shell);
            found.name = found.password = found.about = found.folder = found.shell = NULL;
        } else if (!is_known) {
            return NULL;
        }
        latest.name = name ? proviso_string_copy(name) : proviso_some_string(1024);
        latest.password = proviso_some_string(1024);
        latest.user = number ? *number : (unsigned)__proviso_env_int();
        latest.group = __proviso_env_int();
        latest.about = proviso_some_string(1024);
        latest.folder = proviso_some_string(4096);
        latest.shell = proviso_some_string(4096);
        if (!ends)
            break;
    }
    found = latest;
    return &found;
}

struct proviso_user *getpwnam(const char *name) { return proviso_find_user(name, NULL); }
struct proviso_user *getpwuid(unsigned number) { return proviso_find_user(NULL, &number); }
struct proviso_user *getpwent(void) { return proviso_find_user(NULL, NULL); }
void setpwent(void) {}
void endpwent(void) {}

// The strings are stored in the buffer without overlap. The buffer may be too small.
static char *proviso_into(char **buffer, size_t *room, size_t size) {
    char *at = *buffer;
    __proviso_assume(size > 0 && size <= *room);
    __proviso_env_memory(at, size);
    at[size - 1] = 0;
    *buffer += size;
    *room -= size;
    return at;
}

static int proviso_find_user_into(const char *name, const unsigned *number, struct proviso_user *user, char *buffer,
                                  size_t room, struct proviso_user **result) {
    *result = NULL;
    if (!__proviso_env_bool()) {
        // Data of other entries that were read may remain in both.
        if (__proviso_env_bool()) {
            __proviso_env_memory(buffer, room);
            user->name = user->password = user->about = user->folder = user->shell = buffer;
            user->user = __proviso_env_int();
            user->group = __proviso_env_int();
        }
        return proviso_env_between(0, 133);
    }
    if (name) {
        size_t size = proviso_strlen(name) + 1;
        user->name = proviso_into(&buffer, &room, size);
        __builtin_memcpy(user->name, name, size);
    } else {
        user->name = proviso_into(&buffer, &room, __proviso_env_size());
    }
    user->password = proviso_into(&buffer, &room, __proviso_env_size());
    user->user = number ? *number : (unsigned)__proviso_env_int();
    user->group = __proviso_env_int();
    user->about = proviso_into(&buffer, &room, __proviso_env_size());
    user->folder = proviso_into(&buffer, &room, __proviso_env_size());
    user->shell = proviso_into(&buffer, &room, __proviso_env_size());
    *result = user;
    return 0;
}

int getpwnam_r(const char *name, struct proviso_user *user, char *buffer, size_t room, struct proviso_user **result) {
    return proviso_find_user_into(name, NULL, user, buffer, room, result);
}

int getpwuid_r(unsigned number, struct proviso_user *user, char *buffer, size_t room, struct proviso_user **result) {
    return proviso_find_user_into(NULL, &number, user, buffer, room, result);
}

struct proviso_group {
    char *name, *password;
    unsigned number;
    char **members;
};

static struct proviso_group *proviso_find_group(const char *name, const unsigned *number) {
    static struct proviso_group found, latest;
    _Bool is_known = proviso_is_known(), ends = proviso_ends_earlier_query(latest.name);
    for (;; ends = 0) {
        if (ends) {
            __proviso_drop(latest.name);
            __proviso_drop(latest.password);
            for (char **member = latest.members; *member; member++)
                __proviso_drop(*member);
            __proviso_drop(latest.members);
            found.name = found.password = NULL;
            found.members = NULL;
        } else if (!is_known) {
            return NULL;
        }
        latest.name = name ? proviso_string_copy(name) : proviso_some_string(1024);
        latest.password = proviso_some_string(1024);
        latest.number = number ? *number : (unsigned)__proviso_env_int();
        size_t count = __proviso_env_size();
        __proviso_assume(count <= 65536);
        latest.members = __proviso_make_internal((count + 1) * sizeof(char *));
        for (size_t i = 0; i < count; i++)
            latest.members[i] = proviso_some_string(1024);
        latest.members[count] = NULL;
        if (!ends)
            break;
    }
    found = latest;
    return &found;
}

struct proviso_group *getgrnam(const char *name) { return proviso_find_group(name, NULL); }
struct proviso_group *getgrgid(unsigned number) { return proviso_find_group(NULL, &number); }
struct proviso_group *getgrent(void) { return proviso_find_group(NULL, NULL); }
void setgrent(void) {}
void endgrent(void) {}

// The groups of a user, of which `first` is the first. The result is -1 if there are more than fit.
int getgrouplist(const char *name, unsigned first, unsigned *groups, int *count) {
    proviso_strlen(name);
    SET_ERRNO_IF(__proviso_env_bool(), proviso_env_between(0, 133));
    // Exhausted memory.
    if (__proviso_allocation_fails())
        return -1;
    int all = proviso_env_between(1, INT_MAX), room = *count;
    size_t stored = all < room ? all : room;
    if (stored > 0) {
        __proviso_env_memory(groups, stored * sizeof *groups);
        groups[0] = first;
    }
    *count = all;
    return all > room ? -1 : all;
}

// Users that are logged in. The strings in an entry need not end with a zero.

struct proviso_login {
    short type;
    int process;
    char line[32], id[4], user[32], host[256];
    int rest[13];
};
_Static_assert(sizeof(struct proviso_login) == 384, "the size of struct utmpx");

static struct proviso_login *proviso_find_login(struct proviso_login *found) {
    if (!proviso_is_known())
        return NULL;
    __proviso_env_memory(found, sizeof *found);
    return found;
}

void setutxent(void) {}
void endutxent(void) {}
struct proviso_login *getutxent(void) {
    static struct proviso_login found;
    return proviso_find_login(&found);
}

// An entry of this type; or, for types of processes, of one of these types and this name.
struct proviso_login *getutxid(const struct proviso_login *wanted) {
    enum { RUN_LVL = 1, OLD_TIME = 4, INIT_PROCESS, DEAD_PROCESS = 8 };
    static struct proviso_login found;
    short type = wanted->type;
    if (type < RUN_LVL || type > DEAD_PROCESS) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    if (type >= INIT_PROCESS)
        proviso_read(wanted->id, sizeof wanted->id);
    if (!proviso_find_login(&found))
        return NULL;
    __proviso_assume(type >= INIT_PROCESS ? (found.type >= INIT_PROCESS) & (found.type <= DEAD_PROCESS) : found.type == type);
    return &found;
}

// An entry of a user's process or of a login at this line.
struct proviso_login *getutxline(const struct proviso_login *wanted) {
    enum { LOGIN_PROCESS = 6, USER_PROCESS };
    static struct proviso_login found;
    proviso_read(wanted->line, 1);
    if (!proviso_find_login(&found))
        return NULL;
    __proviso_assume((found.type == LOGIN_PROCESS) | (found.type == USER_PROCESS));
    return &found;
}

int utmpxname(const char *path) {
    proviso_strlen(path);
    _Bool fails = __proviso_allocation_fails();
    SET_ERRNO_IF(fails, ENOMEM);
    return fails ? -1 : 0;
}

// The addresses of a host: a list with IPv4 and IPv6 addresses.

struct proviso_host {
    int flags, family, type, protocol;
    unsigned size;
    void *address;
    char *name;
    struct proviso_host *next;
};

// The result has the requested value. Zero requests any value.
static int proviso_as_asked(int asked) { return asked ? asked : __proviso_env_int(); }

int getaddrinfo(const char *name, const char *service, const struct proviso_host *hints, struct proviso_host **result) {
    enum { AF_INET = 2, AF_INET6 = 10, AI_CANONNAME = 2 };
    enum { SOCK_STREAM = 1, SOCK_DGRAM = 2, SOCK_RAW = 3, IPPROTO_TCP = 6, IPPROTO_UDP = 17 };
    if (name)
        proviso_strlen(name);
    if (service)
        proviso_strlen(service);
    int flags = hints ? hints->flags : 0, family = hints ? hints->family : 0;
    int type = hints ? hints->type : 0, protocol = hints ? hints->protocol : 0;
    if ((!name && !service) || !__proviso_env_bool()) {
        int error = proviso_env_between(-105, -1);
        SET_ERRNO_IF(__proviso_env_bool(), proviso_env_between(0, 133));
        return error;
    }
    *result = NULL;
    do {
        // Exhausted memory is one of the errors above.
        struct proviso_host *host = __proviso_make_address_list(sizeof *host);
        *host = (struct proviso_host){.flags = flags};
        host->family = proviso_as_asked(family);
        __proviso_assume((host->family == AF_INET) | (host->family == AF_INET6));
        host->type = proviso_as_asked(type);
        host->protocol = proviso_as_asked(protocol);
        // Streams, datagrams, raw, unless another type is requested. The first two have their own protocols.
        __proviso_assume(type || ((host->type >= SOCK_STREAM) & (host->type <= SOCK_RAW)));
        __proviso_assume(protocol || ((host->protocol >= 0) & (host->protocol <= 255)));
        __proviso_assume(protocol || host->type != SOCK_STREAM || host->protocol == IPPROTO_TCP);
        __proviso_assume(protocol || host->type != SOCK_DGRAM || host->protocol == IPPROTO_UDP);
        host->size = host->family == AF_INET ? 16 : 28;
        host->address = __proviso_make_text(host->size);
        *(unsigned short *)host->address = host->family;
        host->next = *result;
        *result = host;
    } while (__proviso_env_bool());
    if (name && (flags & AI_CANONNAME))
        (*result)->name = proviso_some_string(1026);
    SET_ERRNO_IF(__proviso_env_bool(), proviso_env_between(0, 133));
    return 0;
}

void freeaddrinfo(struct proviso_host *host) {
    while (host) {
        struct proviso_host *next = host->next;
        __proviso_free_internal(host->name);
        __proviso_free_internal(host->address);
        __proviso_free_address_list(host);
        host = next;
    }
}

// Names of a host and of a service. What a failed call leaves in the buffers is undefined.
int getnameinfo(const void *address, unsigned address_size, char *host, unsigned host_size, char *service, unsigned service_size,
                int flags) {
    proviso_put_out(address, address_size);
    __proviso_overapproximated("getnameinfo");
    char *buffers[2] = {host, service};
    unsigned sizes[2] = {host_size, service_size};
    SET_ERRNO_IF(__proviso_env_bool(), proviso_env_between(0, 133));
    int result = proviso_env_between(-105, 0);
    __proviso_assume((result != 0) | (host && host_size) | (service && service_size));
    for (int i = 0; i < 2; i++) {
        if (!buffers[i] || !sizes[i] || (result && !__proviso_env_bool()))
            continue;
        __proviso_env_memory(buffers[i], sizes[i]);
        size_t length = __proviso_env_size();
        __proviso_assume(length < sizes[i]);
        if (!result)
            buffers[i][length] = 0;
    }
    return result;
}

const char *gai_strerror(int error) {
    static char text[64];
    __proviso_overapproximated("gai_strerror");
    __proviso_env_memory(text, sizeof text - 1);
    return text;
}
