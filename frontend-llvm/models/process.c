// Defines: execv execve execvp execvpe fexecve execl execlp execle wait waitpid wait3 wait4 setuid seteuid setgid setegid
// Defines: setreuid setregid setresuid setresgid getresuid getresgid setsid getsid setpgid getpgid getpgrp getgroups
// Defines: setgroups initgroups nice getpriority setpriority getrlimit setrlimit getrlimit64 setrlimit64 getrusage daemon
// Defines: fork pthread_atfork
// Defines: uname sysinfo gethostid getlogin ttyname ctermid gettid pause
// Defines: sigsuspend prctl getloadavg timer_create timer_delete timer_settime timer_gettime timer_getoverrun
#pragma once
#include "unistd.c"

// Processes: the identity of the program, its permissions, and other programs.

// A new program replaces this one and is not modelled: the path ends. If it does not start, there is an error.
static int proviso_replaced(const char *path) {
    if (path)
        proviso_strlen(path);
    __proviso_assume(__proviso_env_bool());
    return proviso_failure();
}

static int proviso_replaced_with(const char *path, char *const arguments[], char *const variables[]) {
    for (size_t i = 0; arguments && arguments[i]; i++)
        proviso_strlen(arguments[i]);
    for (size_t i = 0; variables && variables[i]; i++)
        proviso_strlen(variables[i]);
    return proviso_replaced(path);
}

int execv(const char *path, char *const arguments[]) { return proviso_replaced_with(path, arguments, NULL); }

int execvp(const char *path, char *const arguments[]) { return proviso_replaced_with(path, arguments, NULL); }

int execve(const char *path, char *const arguments[], char *const variables[]) {
    return proviso_replaced_with(path, arguments, variables);
}

int execvpe(const char *path, char *const arguments[], char *const variables[]) {
    return proviso_replaced_with(path, arguments, variables);
}

int fexecve(int file, char *const arguments[], char *const variables[]) {
    return proviso_replaced_with(NULL, arguments, variables);
}

// Reads up to a null pointer.
#define PROVISO_EXECL(function)                                                                                      \
    int function(const char *path, const char *argument, ...) {                                                      \
        va_list list;                                                                                                \
        va_start(list, argument);                                                                                    \
        for (; argument; argument = va_arg(list, const char *))                                                      \
            proviso_strlen(argument);                                                                                \
        va_end(list);                                                                                                \
        return proviso_replaced(path);                                                                               \
    }
PROVISO_EXECL(execl)
PROVISO_EXECL(execlp)
PROVISO_EXECL(execle)

static void proviso_becomes_member(int which, unsigned number) {
    proviso_identities[which].known = 1;
    proviso_identities[which].number = number;
}

// The program is a child. Its parent, which is a process of the program, may move it to another process group.
static _Bool proviso_may_be_moved;

// Functions that run before and after `fork`.
enum { PROVISO_AROUND_FORK = 4 };
static struct proviso_around_fork {
    void (*before)(void), (*in_parent)(void), (*in_child)(void);
} proviso_around_fork[PROVISO_AROUND_FORK];
static int proviso_around_fork_count;

int pthread_atfork(void (*before)(void), void (*in_parent)(void), void (*in_child)(void)) {
    int count = proviso_around_fork_count;
    if (count >= PROVISO_AROUND_FORK) {
        __proviso_unmodelled("so many functions of pthread_atfork are not modelled");
        return 0;
    }
    proviso_around_fork[count] = (struct proviso_around_fork){before, in_parent, in_child};
    proviso_around_fork_count = count + 1;
    return 0;
}

// The numbers of children. They are used again only after the children are gone, which a call of `wait` or an ignored
// signal causes.
enum { PROVISO_KEPT_CHILDREN = 8 };
static int proviso_children[PROVISO_KEPT_CHILDREN], proviso_child_count;

static void proviso_is_used_again(int number) {
    for (int i = 0; i < proviso_child_count; i++) {
        if (proviso_children[i] == number)
            __proviso_overapproximated("the numbers of processes that are used again are not modelled exactly");
    }
}

// The number of the child is not that of its parent, of their group and of their session.
static void proviso_become_child(void) {
    _Bool knows = proviso_identities[PROVISO_PROCESS].known;
    unsigned number = proviso_identities[PROVISO_PROCESS].number;
    unsigned group = proviso_identity(PROVISO_GROUP_OF_PROCESSES, proviso_env_between(0, INT_MAX));
    unsigned session = proviso_identity(PROVISO_SESSION, proviso_env_between(0, INT_MAX));
    unsigned self = proviso_env_between(1, INT_MAX);
    __proviso_assume((!knows | (self != number)) & (self != group) & (self != session));
    proviso_becomes_member(PROVISO_PROCESS, self);
    proviso_is_used_again(self);
    proviso_parent = knows ? (int)number : -1;
    proviso_may_be_moved = 1;
}

static void proviso_begin_child(void) {
    proviso_share_all_files();
    proviso_pipe.known = 0;
#ifdef PROVISO_KILLS
    __proviso_overapproximated("signals between the processes of a program are not modelled");
#endif
}

static void proviso_remember_child(int child) {
    proviso_is_used_again(child);
    if (proviso_child_count < PROVISO_KEPT_CHILDREN)
        proviso_children[proviso_child_count++] = child;
}

// The parent and the child go on with equal memory. Each is an execution of the program, to which the other is the environment.
static int proviso_fork(void) {
    int child = proviso_env_between(-1, INT_MAX);
    SET_ERRNO_IF(child < 0, proviso_env_error());
    if (child < 0)
        return -1;
    proviso_begin_child();
    __proviso_assume(!proviso_identities[PROVISO_PROCESS].known | (child != proviso_identities[PROVISO_PROCESS].number));
    if (child == 0)
        proviso_become_child();
    else
        proviso_remember_child(child);
    return child;
}

static void proviso_before_fork(void) {
#ifdef PROVISO_THREADS
    __proviso_unmodelled("fork in a program with threads is not modelled");
#endif
    // A harness replaces `fork`, so the registered functions would not run.
    if (proviso_around_fork_count > 0)
        __proviso_overapproximated("calls of functions that pthread_atfork registers cannot be reproduced");
    for (int i = proviso_around_fork_count; i > 0; i--) {
        if (proviso_around_fork[i - 1].before)
            proviso_around_fork[i - 1].before();
    }
}

static void proviso_after_fork(_Bool in_child) {
    for (int i = 0; i < proviso_around_fork_count; i++) {
        void (*after)(void) = in_child ? proviso_around_fork[i].in_child : proviso_around_fork[i].in_parent;
        if (after)
            after();
    }
}

int fork(void) {
    proviso_before_fork();
    int child = proviso_fork();
    proviso_after_fork(child == 0);
    return child;
}

enum { PROVISO_USAGE = 16 * sizeof(long) + 2 * sizeof(long) };

// The child has exited with a status or by a signal (with or without a core dump), or has stopped or continued, if that is requested.
static int proviso_end_of_process(int options) {
    enum { WUNTRACED = 2, WCONTINUED = 8 };
    int status = proviso_env_between(0, 0xffff), signal = status & 0x7f, above = status >> 8;
    _Bool left = (status & 0xff) == 0, killed = (signal > 0) & (signal <= 64) & (above == 0);
    _Bool stopped = ((options & WUNTRACED) != 0) & ((status & 0xff) == 0x7f) & (above > 0) & (above <= 64);
    _Bool goes_on = ((options & WCONTINUED) != 0) & (status == 0xffff);
    __proviso_assume(left | killed | stopped | goes_on);
    return status;
}

// Other processes end in any way. If one is requested, it is that one. 0 with WNOHANG if none has ended.
static int proviso_ended(int asked, int *status, int options, void *usage, size_t usage_size) {
    if (proviso_has_forked)
        __proviso_overapproximated("the end of the program's child processes is not modelled");
    int process = proviso_env_between(-1, INT_MAX);
    __proviso_assume((process != 0) | ((options & 1) != 0));
    __proviso_assume((asked <= 0) | (process <= 0) | (process == asked));
    SET_ERRNO_IF(process < 0, proviso_env_error());
    if (process > 0 && status)
        *status = proviso_end_of_process(options);
    if (process > 0 && usage)
        __proviso_env_memory(usage, usage_size);
    return process;
}

int wait(int *status) { return proviso_ended(-1, status, 0, NULL, 0); }

int waitpid(int process, int *status, int options) { return proviso_ended(process, status, options, NULL, 0); }

int wait3(int *status, int options, void *usage) {
    return proviso_ended(-1, status, options, usage, PROVISO_USAGE);
}

int wait4(int process, int *status, int options, void *usage) {
    return proviso_ended(process, status, options, usage, PROVISO_USAGE);
}

// The new identity is not modelled.
static int proviso_becomes(int first, int last) {
    int outcome = proviso_outcome();
    if (outcome == 0) {
        __proviso_overapproximated("the effect of a change of the user or group is not modelled");
        for (int which = first; which <= last; which++)
            proviso_identities[which].known = 0;
    }
    return outcome;
}

static int proviso_becomes_user(void) { return proviso_becomes(PROVISO_USER, PROVISO_SAVED_USER); }
static int proviso_becomes_group(void) { return proviso_becomes(PROVISO_GROUP, PROVISO_SAVED_GROUP); }

int setuid(unsigned user) { return proviso_becomes_user(); }
int seteuid(unsigned user) { return proviso_becomes_user(); }
int setgid(unsigned group) { return proviso_becomes_group(); }
int setegid(unsigned group) { return proviso_becomes_group(); }
int setreuid(unsigned real, unsigned effective) { return proviso_becomes_user(); }
int setregid(unsigned real, unsigned effective) { return proviso_becomes_group(); }
int setresuid(unsigned real, unsigned effective, unsigned saved) { return proviso_becomes_user(); }
int setresgid(unsigned real, unsigned effective, unsigned saved) { return proviso_becomes_group(); }

static int proviso_three(int which, unsigned *real, unsigned *effective, unsigned *saved) {
    *real = proviso_identity(which, __proviso_env_int());
    *effective = proviso_identity(which + 1, __proviso_env_int());
    *saved = proviso_identity(which + 2, __proviso_env_int());
    return 0;
}

int getresuid(unsigned *real, unsigned *effective, unsigned *saved) {
    return proviso_three(PROVISO_USER, real, effective, saved);
}

int getresgid(unsigned *real, unsigned *effective, unsigned *saved) {
    return proviso_three(PROVISO_GROUP, real, effective, saved);
}

// Process groups and sessions. Those of other processes may change.

// True if the process is the program itself, as far as its number is known.
static _Bool proviso_is_self(int process) {
    return process == 0 || (proviso_identities[PROVISO_PROCESS].known && (unsigned)process == proviso_identities[PROVISO_PROCESS].number);
}

// A process that leads a group cannot get another one.
int setsid(void) {
    int self = proviso_own_number(), outcome = proviso_outcome();
    _Bool leads = proviso_identities[PROVISO_GROUP_OF_PROCESSES].known && proviso_identities[PROVISO_GROUP_OF_PROCESSES].number == (unsigned)self;
    __proviso_assume((outcome < 0) | !leads);
    if (outcome < 0)
        return -1;
    proviso_becomes_member(PROVISO_GROUP_OF_PROCESSES, self);
    proviso_becomes_member(PROVISO_SESSION, self);
    return self;
}

static void proviso_perhaps_move(int which) {
    if (proviso_may_be_moved && which == PROVISO_GROUP_OF_PROCESSES && __proviso_env_bool()) {
        __proviso_overapproximated("moves of a child to another process group are not modelled exactly");
        proviso_identities[which].known = 0;
    }
}

static int proviso_membership(int which, int process) {
    int number = proviso_count_or_failure();
    if (proviso_is_self(process)) {
        proviso_perhaps_move(which);
        __proviso_assume(number >= 0);
        return proviso_identity(which, number);
    }
    return number;
}

int getsid(int process) { return proviso_membership(PROVISO_SESSION, process); }
int getpgid(int process) { return proviso_membership(PROVISO_GROUP_OF_PROCESSES, process); }
int getpgrp(void) {
    proviso_perhaps_move(PROVISO_GROUP_OF_PROCESSES);
    return proviso_identity(PROVISO_GROUP_OF_PROCESSES, proviso_env_between(0, INT_MAX));
}

int setpgid(int process, int group) {
    int outcome = proviso_outcome();
    __proviso_assume((outcome < 0) | ((process >= 0) & (group >= 0)));
    if (outcome == 0 && proviso_is_self(process))
        proviso_becomes_member(PROVISO_GROUP_OF_PROCESSES, group ? group : proviso_own_number());
    return outcome;
}

// The number of the only thread.
int gettid(void) { return proviso_own_number(); }

// The number of the program's groups, or -1 if unknown.
static int proviso_group_count = -1;

int getgroups(int size, unsigned *groups) {
    static _Bool asked;
    int count = proviso_env_between(0, 65536);
    __proviso_assume((proviso_group_count < 0) | (count == proviso_group_count));
    proviso_group_count = count;
    if (size < 0 || (size > 0 && size < count)) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    if (size > 0 && asked)
        __proviso_overapproximated("two calls may return different groups of the program");
    if (size > 0 && count > 0) {
        asked = 1;
        __proviso_env_memory(groups, count * sizeof *groups);
    }
    return count;
}

int setgroups(size_t size, const unsigned *groups) {
    int result = proviso_outcome();
    __proviso_assume((result < 0) | (size <= 65536));
    if (result == 0) {
        proviso_read(groups, size * sizeof *groups);
        __proviso_overapproximated("the effect of a change of groups is not modelled");
        proviso_group_count = size;
    }
    return result;
}

int initgroups(const char *user, unsigned group) {
    proviso_strlen(user);
    int result = proviso_outcome();
    if (result == 0) {
        __proviso_overapproximated("the effect of a change of groups is not modelled");
        proviso_group_count = -1;
    }
    return result;
}

// -1 may be a priority. Other processes may change the program's priority.
static int proviso_niceness(void) {
    int priority = proviso_env_between(-20, 19);
    SET_ERRNO_IF(priority == -1 && __proviso_env_bool(), proviso_env_error());
    return priority;
}

int nice(int difference) { return proviso_niceness(); }
int getpriority(int which, unsigned who) { return proviso_niceness(); }
int setpriority(int which, unsigned who, int priority) { return proviso_outcome(); }

// Resource limits of Linux: the current one, and the maximum. In 32 bits, no limit and limits that do not fit are all ones.
enum { PROVISO_RESOURCES = 16, PROVISO_NOFILE = 7 };
static unsigned long long proviso_resource_limits[PROVISO_RESOURCES][2];
static _Bool proviso_limits_known[PROVISO_RESOURCES];

static _Bool proviso_no_resource(int resource) {
    if (resource >= 0 && resource < PROVISO_RESOURCES)
        return 0;
    SET_ERRNO(EINVAL);
    return 1;
}

// The limit as read by functions whose numbers are at most `most`.
static void proviso_keep_limits(int resource, unsigned long long now, unsigned long long greatest, unsigned long long most) {
    unsigned long long *kept = proviso_resource_limits[resource];
    if (resource == PROVISO_NOFILE)
        proviso_asks_open_max(2);
    __proviso_assume(now <= greatest);
    if (!proviso_limits_known[resource]) {
        kept[0] = now == most ? ~0ull : now;
        kept[1] = greatest == most ? ~0ull : greatest;
        proviso_limits_known[resource] = 1;
    }
    __proviso_assume((now == (kept[0] > most ? most : kept[0])) & (greatest == (kept[1] > most ? most : kept[1])));
}

// Some results of `sysconf` depend on the limits. The model does not determine which.
static int proviso_set_limits(int resource, unsigned long long now, unsigned long long greatest, unsigned long long most) {
    int outcome = proviso_outcome();
    __proviso_assume((outcome < 0) | ((resource >= 0) & (resource < PROVISO_RESOURCES) & (now <= greatest)));
    if (outcome < 0)
        return -1;
    proviso_resource_limits[resource][0] = now == most ? ~0ull : now;
    proviso_resource_limits[resource][1] = greatest == most ? ~0ull : greatest;
    proviso_limits_known[resource] = 1;
    if (proviso_limits_of_system.count > 0)
        __proviso_overapproximated("the effect of setrlimit on results of sysconf is not modelled");
    proviso_limits_of_system.count = 0;
    return 0;
}

static const unsigned long long PROVISO_MOST_LONG = ~0ul, PROVISO_MOST = ~0ull;

int getrlimit(int resource, unsigned long limit[2]) {
    if (proviso_no_resource(resource))
        return -1;
    __proviso_env_memory(limit, 2 * sizeof *limit);
    proviso_keep_limits(resource, limit[0], limit[1], PROVISO_MOST_LONG);
    return 0;
}

int setrlimit(int resource, const unsigned long limit[2]) {
    return proviso_set_limits(resource, limit[0], limit[1], PROVISO_MOST_LONG);
}

int getrlimit64(int resource, unsigned long long limit[2]) {
    if (proviso_no_resource(resource))
        return -1;
    __proviso_env_memory(limit, 2 * sizeof *limit);
    proviso_keep_limits(resource, limit[0], limit[1], PROVISO_MOST);
    return 0;
}

int setrlimit64(int resource, const unsigned long long limit[2]) {
    return proviso_set_limits(resource, limit[0], limit[1], PROVISO_MOST);
}

// Times, and counts that are not negative. They never decrease.
int getrusage(int who, long *usage) {
    static long before[3][18];
    if (who < -1 || who > 1) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    for (int i = 0; i < 18; i++) {
        usage[i] = __proviso_env_long();
        __proviso_assume(usage[i] >= 0 && ((i != 1 && i != 3) || usage[i] < 1000000));
        // Compares seconds, and their fractions if the seconds are equal.
        _Bool fraction = i == 1 || i == 3;
        _Bool goes_on = (usage[i] >= before[who + 1][i]) | (fraction && usage[i - 1] > before[who + 1][i - 1]);
        __proviso_assume(goes_on | proviso_has_forked);
        if (!goes_on)
            __proviso_overapproximated(PROVISO_RESTARTED);
        if (i != 0 && i != 2)
            before[who + 1][i] = usage[i];
        if (fraction)
            before[who + 1][i - 1] = usage[i - 1];
    }
    return 0;
}

// The program continues as the child, in a new session, in the root folder, with /dev/null as its standard files. An error
// may occur in the parent or in the child.
int daemon(int stays, int keeps) {
    proviso_before_fork();
    int outcome = proviso_outcome();
    if (outcome < 0 && __proviso_env_bool()) {
        proviso_after_fork(0);
        return -1;
    }
    proviso_begin_child();
    proviso_become_child();
    proviso_after_fork(1);
    if (outcome < 0 && __proviso_env_bool())
        return -1;
    proviso_becomes_member(PROVISO_GROUP_OF_PROCESSES, proviso_own_number());
    proviso_becomes_member(PROVISO_SESSION, proviso_own_number());
    if (!stays)
        chdir("/");
    if (!keeps) {
        int null = open("/dev/null", PROVISO_READS_AND_WRITES);
        if (null < 0)
            return -1;
        for (int file = 0; file <= 2; file++)
            dup2(null, file);
        if (null > 2)
            close(null);
    }
    return outcome;
}

// Six names. Those of the host and its domain may change at any time.
int uname(char names[6][65]) {
    static char kept[6][65];
    static _Bool known;
    for (int i = 0; i < 6; i++) {
        __proviso_env_memory(names[i], 65);
        _Bool same = 1;
        for (int n = 0; known && n < 65; n++)
            same &= names[i][n] == kept[i][n];
        __proviso_assume((names[i][64] == 0) & (same | (i == 1) | (i == 5)));
        if (!same)
            __proviso_overapproximated("two calls may return different names of the host");
        __builtin_memcpy(kept[i], names[i], 65);
    }
    known = 1;
    return 0;
}

// The members of `struct sysinfo`.
struct proviso_system {
    long uptime;
    unsigned long loads[3], total_ram, free_ram, shared_ram, buffer_ram, total_swap, free_swap;
    unsigned short processes, padding;
    unsigned long total_high, free_high;
    unsigned unit;
    char rest[20 - 2 * sizeof(long) - sizeof(int)];
};

// The time since the start of the system never decreases. Everything else may change at any time.
int sysinfo(struct proviso_system *info) {
    static long before;
    __proviso_env_memory(info, sizeof *info);
    __proviso_assume((info->uptime >= before) & (info->unit >= 1));
    before = info->uptime;
    return 0;
}

// Reads the name of the host. If there is none, it may or may not report an error. Privileged processes may change the name at any time.
long gethostid(void) {
    static _Bool asked;
    if (asked)
        __proviso_overapproximated("two calls may return different names of the host");
    asked = 1;
    SET_ERRNO_IF(__proviso_env_bool(), proviso_env_between(0, 133));
    return __proviso_env_int();
}

// A name with at least this many characters.
static char *proviso_known_name(char name[64], int least) {
    __proviso_env_memory(name, 63);
    for (int i = 0; i < least; i++)
        __proviso_assume(name[i] != 0);
    return name;
}

// The system stores it where other processes may write.
char *getlogin(void) {
    static char name[64];
    static _Bool asked;
    if (asked)
        __proviso_overapproximated("two calls may return different names of the user");
    asked = 1;
    return proviso_outcome() < 0 ? NULL : proviso_known_name(name, 1);
}

// The path of a terminal. It is the same for each call, unless the terminal was moved.
char *ttyname(int file) {
    static char name[64];
    static _Bool asked;
    if (asked)
        __proviso_overapproximated("two calls may return different names of a terminal");
    asked = 1;
    if (proviso_terminal_outcome(file) < 0)
        return NULL;
    proviso_known_name(name, 2);
    __proviso_assume(name[0] == '/');
    return name;
}

char *ctermid(char *buffer) {
    static char name[9];
    char *result = buffer ? buffer : name;
    __builtin_memcpy(result, "/dev/tty", 9);
    return result;
}

// No signal has a handler.
int pause(void) {
    proviso_waits_for_signal();
    SET_ERRNO(EINTR);
    return -1;
}

int sigsuspend(const void *signals) {
    enum { PROVISO_SIGNALS = 8 };
    proviso_put_out(signals, PROVISO_SIGNALS);
    proviso_waits_for_signal();
    SET_ERRNO(EINTR);
    return -1;
}

// Options with a number, a name, or without an argument. They do not change memory.
int prctl(int option, ...) {
    enum { SET_PDEATHSIG = 1, GET_DUMPABLE = 3, SET_DUMPABLE, SET_KEEPCAPS = 8, SET_NAME = 15, SET_SUBREAPER = 36 };
    enum { NO_NEW_PRIVS = 38, GET_NO_NEW_PRIVS };
    if (option == SET_NAME) {
        va_list list;
        va_start(list, option);
        const char *name = va_arg(list, const char *);
        va_end(list);
        for (int i = 0; i < 15 && name[i]; i++)
            ;
    } else if (option != SET_PDEATHSIG && option != GET_DUMPABLE && option != SET_DUMPABLE && option != SET_KEEPCAPS &&
               option != SET_SUBREAPER && option != NO_NEW_PRIVS && option != GET_NO_NEW_PRIVS) {
        __proviso_unmodelled("this option of prctl is not modelled");
    }
    if (option == GET_DUMPABLE || option == GET_NO_NEW_PRIVS)
        __proviso_overapproximated("the flags that prctl returns are not modelled exactly");
    int result = proviso_env_between(-1, option == GET_DUMPABLE ? 2 : option == GET_NO_NEW_PRIVS);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

// The average load of the last 1, 5 and 15 minutes.
int getloadavg(double *load, int count) {
    int most = count < 3 ? count : 3;
    for (int i = 0; i < most; i++) {
        if (__proviso_env_bool())
            return proviso_failure();
        load[i] = __proviso_env_double();
        __proviso_assume((load[i] >= 0) & (load[i] <= 0x1p53));
    }
    if (most <= 0 && __proviso_env_bool())
        return proviso_failure();
    return most > 0 ? most : 0;
}

// Timers of a process. A timer that is set sends a signal at any later time.

struct proviso_event {
    union {
        int number;
        void *pointer;
    } value;
    int signal, how;
};

int timer_create(int clock, const struct proviso_event *event, uintptr_t *timer) {
    enum { SIGEV_THREAD = 2 };
    if (event && event->how == SIGEV_THREAD)
        __proviso_unmodelled("threads and processes");
    if (event)
        proviso_put_out(&event->signal, sizeof event->signal);
    static _Bool created;
    if (created)
        __proviso_overapproximated("the timers of a program are not distinguished");
    created = 1;
    int result = proviso_outcome();
    if (result == 0)
        *timer = proviso_env_between(0, INT_MAX);
    return result;
}

#define TIMER_IS_APPROXIMATED __proviso_overapproximated("the state of a timer is not modelled")
int timer_delete(void *timer) { return proviso_outcome(); }
int timer_getoverrun(void *timer) {
    TIMER_IS_APPROXIMATED;
    return proviso_count_or_failure();
}

// The interval and the remaining time: seconds and nanoseconds.
static int proviso_timer(int result, long *times) {
    if (result < 0 || !times)
        return result;
    __proviso_env_memory(times, 4 * sizeof *times);
    __proviso_assume((times[0] >= 0) & (times[1] >= 0) & (times[1] < 1000000000));
    __proviso_assume((times[2] >= 0) & (times[3] >= 0) & (times[3] < 1000000000));
    return result;
}

int timer_gettime(void *timer, long *times) {
    TIMER_IS_APPROXIMATED;
    return proviso_timer(proviso_outcome(), times);
}
int timer_settime(void *timer, int flags, const long *times, long *old) {
    if (!times) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    proviso_put_out(times, 4 * sizeof *times);
    int result = proviso_outcome();
    if (result == 0)
        __proviso_unmodelled("signals are not modelled");
    return proviso_timer(result, old);
}
