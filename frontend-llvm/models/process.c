// Defines: execv execve execvp execvpe fexecve execl execlp execle wait waitpid wait3 wait4 setuid seteuid setgid setegid
// Defines: setreuid setregid setresuid setresgid getresuid getresgid setsid getsid setpgid getpgid getpgrp getgroups
// Defines: setgroups initgroups nice getpriority setpriority getrlimit setrlimit getrlimit64 setrlimit64 getrusage daemon
// Defines: uname gethostid getlogin ttyname ctermid gettid pause
#pragma once
#include "unistd.c"

// Processes: who the program is, what it may, other programs.

// What starts is another program, which is not looked at: the path ends. If it does not start there is an error.
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

// Up to a null pointer.
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

enum { PROVISO_USAGE = 16 * sizeof(long) + 2 * sizeof(long) };

// It has left with a status, or by a signal (with a core or not); it has stopped or goes on, where that is asked for.
static int proviso_end_of_process(int options) {
    enum { WUNTRACED = 2, WCONTINUED = 8 };
    int status = proviso_env_between(0, 0xffff), signal = status & 0x7f, above = status >> 8;
    _Bool left = (status & 0xff) == 0, killed = (signal > 0) & (signal <= 64) & (above == 0);
    _Bool stopped = ((options & WUNTRACED) != 0) & ((status & 0xff) == 0x7f) & (above > 0) & (above <= 64);
    _Bool goes_on = ((options & WCONTINUED) != 0) & (status == 0xffff);
    __proviso_assume(left | killed | stopped | goes_on);
    return status;
}

// Other processes end in any way, the one that is asked for if one is; 0 where nobody waits (WNOHANG) and none has ended.
static int proviso_ended(int asked, int *status, int options, void *usage, size_t usage_size) {
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

// Who it is then is not followed.
static int proviso_becomes(int first, int last) {
    int outcome = proviso_outcome();
    if (outcome == 0) {
        __proviso_overapproximated("which user or group the program becomes is not modelled");
        for (int which = first; which <= last; which++)
            proviso_identities[which].known = 0;
    }
    return outcome;
}

static int proviso_becomes_user(void) { return proviso_becomes(PROVISO_USER, PROVISO_EFFECTIVE_USER); }
static int proviso_becomes_group(void) { return proviso_becomes(PROVISO_GROUP, PROVISO_EFFECTIVE_GROUP); }

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
    *saved = __proviso_env_int();
    return 0;
}

int getresuid(unsigned *real, unsigned *effective, unsigned *saved) {
    return proviso_three(PROVISO_USER, real, effective, saved);
}

int getresgid(unsigned *real, unsigned *effective, unsigned *saved) {
    return proviso_three(PROVISO_GROUP, real, effective, saved);
}

int setsid(void) { return proviso_descriptor(); }
int getsid(int process) { return proviso_descriptor(); }
int setpgid(int process, int group) { return proviso_outcome(); }
int getpgid(int process) { return proviso_descriptor(); }
int getpgrp(void) { return proviso_env_between(0, INT_MAX); }
int gettid(void) { return proviso_env_between(1, INT_MAX); }

int getgroups(int size, unsigned *groups) {
    int count = proviso_env_between(-1, 65536);
    __proviso_assume(size == 0 || count <= size);
    SET_ERRNO_IF(count < 0, proviso_env_error());
    if (size > 0 && count > 0)
        __proviso_env_memory(groups, count * sizeof *groups);
    return count;
}

int setgroups(size_t size, const unsigned *groups) {
    int result = proviso_outcome();
    if (result == 0)
        proviso_read(groups, size * sizeof *groups);
    return result;
}

int initgroups(const char *user, unsigned group) {
    proviso_strlen(user);
    return proviso_outcome();
}

// -1 may be a priority.
static int proviso_niceness(void) {
    int priority = proviso_env_between(-20, 19);
    SET_ERRNO_IF(priority == -1 && __proviso_env_bool(), proviso_env_error());
    return priority;
}

int nice(int difference) { return proviso_niceness(); }
int getpriority(int which, unsigned who) { return proviso_niceness(); }
int setpriority(int which, unsigned who, int priority) { return proviso_outcome(); }

static int proviso_filled(void *result, size_t size) {
    int outcome = proviso_outcome();
    if (outcome == 0)
        __proviso_env_memory(result, size);
    return outcome;
}

static int proviso_taken(const void *value, size_t size) {
    proviso_read(value, size);
    return proviso_outcome();
}

// What holds now is no more than what may be set.
int getrlimit(int resource, unsigned long limit[2]) {
    int outcome = proviso_filled(limit, 2 * sizeof *limit);
    __proviso_assume(outcome < 0 || limit[0] <= limit[1]);
    return outcome;
}

int setrlimit(int resource, const void *limit) { return proviso_taken(limit, 2 * sizeof(long)); }

int getrlimit64(int resource, unsigned long long limit[2]) {
    int outcome = proviso_filled(limit, 2 * sizeof *limit);
    __proviso_assume(outcome < 0 || limit[0] <= limit[1]);
    return outcome;
}

int setrlimit64(int resource, const void *limit) { return proviso_taken(limit, 16); }

// Times, and counts that are not negative.
int getrusage(int who, long *usage) {
    if (who < -1 || who > 1) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    for (int i = 0; i < 18; i++) {
        usage[i] = __proviso_env_long();
        __proviso_assume(usage[i] >= 0 && ((i != 1 && i != 3) || usage[i] < 1000000));
    }
    return 0;
}

// The program goes on as a child.
int daemon(int stays, int keeps) { return proviso_outcome(); }

// Six names.
int uname(char names[6][65]) {
    for (int i = 0; i < 6; i++) {
        __proviso_env_memory(names[i], 65);
        __proviso_assume(names[i][64] == 0);
    }
    return 0;
}

// It asks for the name of the host, and where there is nothing it says so or not.
long gethostid(void) {
    SET_ERRNO_IF(__proviso_env_bool(), proviso_env_between(0, 133));
    return __proviso_env_int();
}

static char *proviso_known_name(char name[64]) {
    if (proviso_outcome() < 0)
        return NULL;
    __proviso_env_memory(name, 63);
    return name;
}

char *getlogin(void) {
    static char name[64];
    return proviso_known_name(name);
}

char *ttyname(int file) {
    static char name[64];
    return proviso_known_name(name);
}

char *ctermid(char *buffer) {
    static char name[9];
    char *result = buffer ? buffer : name;
    __builtin_memcpy(result, "/dev/tty", 9);
    return result;
}

int pause(void) {
    SET_ERRNO(EINTR);
    return -1;
}
