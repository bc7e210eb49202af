// Defines: read write open open64 creat close lseek lseek64 unlink rmdir mkdir access chdir dup dup2 pipe isatty fsync
// Defines: __read_chk getpid getppid getuid geteuid getgid getegid getpagesize getcwd gethostname sysconf
// Defines: getentropy getrandom stat lstat fstat stat64 lstat64 fstat64 umask fcntl fcntl64
#pragma once
#include "proviso.h"

// The operating system: what it gives is of the environment, what it is given is read.

static int proviso_outcome(void) {
    int result = proviso_env_between(-1, 0);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

static int proviso_failure(void) {
    SET_ERRNO(proviso_env_error());
    return -1;
}

static int proviso_descriptor(void) {
    int result = proviso_env_between(-1, INT_MAX);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

static ssize_t proviso_read_bytes(void *buffer, size_t size) {
    ssize_t n = __proviso_env_size();
    __proviso_assume((n == -1) | ((n >= 0) & ((size_t)n <= size)));
    SET_ERRNO_IF(n < 0, proviso_env_error());
    if (n > 0)
        __proviso_env_memory(buffer, n);
    return n;
}

ssize_t read(int file, void *buffer, size_t size) { return proviso_read_bytes(buffer, size); }

ssize_t __read_chk(int file, void *buffer, size_t size, size_t object_size) {
    if (size > object_size)
        __proviso_abort();
    return proviso_read_bytes(buffer, size);
}

ssize_t getrandom(void *buffer, size_t size, unsigned flags) { return proviso_read_bytes(buffer, size); }

int getentropy(void *buffer, size_t size) {
    if (size > 256) {
        SET_ERRNO(EIO);
        return -1;
    }
    int result = proviso_outcome();
    if (result == 0)
        __proviso_env_memory(buffer, size);
    return result;
}

ssize_t write(int file, const void *data, size_t size) {
    ssize_t n = __proviso_env_size();
    __proviso_assume((n == -1) | ((n >= 0) & ((size_t)n <= size)));
    SET_ERRNO_IF(n < 0, proviso_env_error());
    proviso_put_out(data, size);
    return n;
}

int open(const char *path, int flags, ...) {
    proviso_strlen(path);
    return proviso_descriptor();
}

int open64(const char *path, int flags, ...) {
    proviso_strlen(path);
    return proviso_descriptor();
}

int creat(const char *path, unsigned mode) {
    proviso_strlen(path);
    return proviso_descriptor();
}

int close(int file) { return proviso_outcome(); }

int fsync(int file) { return proviso_outcome(); }

long lseek(int file, long offset, int whence) {
    long result = __proviso_env_long();
    __proviso_assume(result >= -1);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

long long lseek64(int file, long long offset, int whence) {
    long long result = __proviso_env_longlong();
    __proviso_assume(result >= -1);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

static int proviso_path_outcome(const char *path) {
    proviso_strlen(path);
    return proviso_outcome();
}

int unlink(const char *path) { return proviso_path_outcome(path); }
int rmdir(const char *path) { return proviso_path_outcome(path); }
int mkdir(const char *path, unsigned mode) { return proviso_path_outcome(path); }
int access(const char *path, int mode) { return proviso_path_outcome(path); }
int chdir(const char *path) { return proviso_path_outcome(path); }

int dup(int file) { return proviso_descriptor(); }

int dup2(int file, int to) { return to < 0 || proviso_outcome() < 0 ? proviso_failure() : to; }

static int proviso_two_ends(int ends[2]) {
    int result = proviso_outcome();
    if (result == 0) {
        ends[0] = proviso_env_between(0, INT_MAX);
        ends[1] = proviso_env_between(0, INT_MAX);
        __proviso_assume(ends[0] != ends[1]);
    }
    return result;
}

int pipe(int ends[2]) { return proviso_two_ends(ends); }

int isatty(int file) { return proviso_outcome() + 1; }

// Who the program is: the same whenever it is asked, as long as it is nobody else.
enum { PROVISO_PROCESS, PROVISO_USER, PROVISO_EFFECTIVE_USER, PROVISO_GROUP, PROVISO_EFFECTIVE_GROUP, PROVISO_IDENTITIES };
static struct {
    _Bool known;
    unsigned number;
} proviso_identities[PROVISO_IDENTITIES];

static unsigned proviso_identity(int which, unsigned number) {
    __proviso_assume(!proviso_identities[which].known || number == proviso_identities[which].number);
    proviso_identities[which].known = 1;
    proviso_identities[which].number = number;
    return number;
}

int getpid(void) { return proviso_identity(PROVISO_PROCESS, proviso_env_between(1, INT_MAX)); }
int getppid(void) { return proviso_env_between(0, INT_MAX); }
unsigned getuid(void) { return proviso_identity(PROVISO_USER, __proviso_env_int()); }
unsigned geteuid(void) { return proviso_identity(PROVISO_EFFECTIVE_USER, __proviso_env_int()); }
unsigned getgid(void) { return proviso_identity(PROVISO_GROUP, __proviso_env_int()); }
unsigned getegid(void) { return proviso_identity(PROVISO_EFFECTIVE_GROUP, __proviso_env_int()); }
int getpagesize(void) { return 4096; }

// What POSIX has as the least value for a name, as far as Linux keeps to it: limits that a user can lower
// (_SC_CHILD_MAX, _SC_OPEN_MAX, ...) may be 0.
static long proviso_least(int name) {
    enum { ARG_MAX = 0, CLK_TCK = 2, PAGESIZE = 30, IOV_MAX = 60, LOGIN_NAME_MAX = 71, TTY_NAME_MAX = 72 };
    enum { NPROCESSORS_CONF = 83, NPROCESSORS_ONLN = 84, PHYS_PAGES = 85 };
    long positive = (name == CLK_TCK) | (name == PAGESIZE) | (name == NPROCESSORS_CONF) | (name == NPROCESSORS_ONLN) |
                    (name == PHYS_PAGES);
    return positive + (name == ARG_MAX) * 4096 + (name == IOV_MAX) * 16 +
           ((name == LOGIN_NAME_MAX) | (name == TTY_NAME_MAX)) * 9;
}

// -1 without an error says that there is no limit. What else is negative is the least value of a type of C's.
long sysconf(int name) {
    enum { CHAR_MIN = 103, INT_MIN = 105, SCHAR_MIN = 112, SHRT_MIN = 114 };
    long value = __proviso_env_long();
    _Bool is_negative = (name == CHAR_MIN) | (name == INT_MIN) | (name == SCHAR_MIN) | (name == SHRT_MIN);
    __proviso_assume(is_negative | (value == -1) | (value >= proviso_least(name)));
    SET_ERRNO_IF(value == -1 && __proviso_env_bool(), EINVAL);
    return value;
}

// A name of this length, which is what there is in it before the null.
static void proviso_env_text(char *buffer, size_t length) {
    __proviso_env_memory(buffer, length);
    for (size_t i = 0; i < length; i++)
        __proviso_assume(buffer[i] != 0);
}

// What does not fit is cut off, without a null.
int gethostname(char *buffer, size_t size) {
    if (proviso_outcome() < 0)
        return -1;
    size_t length = __proviso_env_size();
    __proviso_assume(length <= 64);
    if (length >= size) {
        proviso_env_text(buffer, size);
        SET_ERRNO(ENAMETOOLONG);
        return -1;
    }
    proviso_env_text(buffer, length);
    buffer[length] = 0;
    return 0;
}

char *getcwd(char *buffer, size_t size) {
    if (proviso_outcome() < 0)
        return NULL;
    size_t length = __proviso_env_size();
    __proviso_assume((length > 0) & (length < 4096));
    if (size == 0 && buffer) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    if (size > 0 && length >= size) {
        SET_ERRNO(ERANGE);
        return NULL;
    }
    if (!buffer)
        buffer = malloc(size ? size : length + 1);
    if (!buffer)
        return NULL;
    proviso_env_text(buffer, length);
    buffer[length] = 0;
    return buffer;
}

// What is known of a file, as much of it as the structure holds; the byte of it with the sign of `st_size`, where the mode is, and the times.
#if __SIZEOF_POINTER__ == 8
enum { PROVISO_STAT = 144, PROVISO_STAT64 = 144, PROVISO_STAT_SIGN = 55, PROVISO_STAT64_SIGN = 55 };
enum { PROVISO_STAT_MODE = 24, PROVISO_STAT_TIMES = 72, PROVISO_STAT64_TIMES = 72 };
#else
enum { PROVISO_STAT = 88, PROVISO_STAT64 = 96, PROVISO_STAT_SIGN = 47, PROVISO_STAT64_SIGN = 51 };
enum { PROVISO_STAT_MODE = 16, PROVISO_STAT_TIMES = 56, PROVISO_STAT64_TIMES = 64 };
#endif

// A file has no negative size, is of one of the kinds, and its times are ones.
static int proviso_stat(void *status, size_t size) {
    int result = proviso_outcome();
    if (result == 0) {
        __proviso_env_memory(status, size);
        int sign = size == PROVISO_STAT ? PROVISO_STAT_SIGN : PROVISO_STAT64_SIGN;
        __proviso_assume(((signed char *)status)[sign] >= 0);
        unsigned kind = *(unsigned *)((char *)status + PROVISO_STAT_MODE) >> 12;
        // What has no name (epoll, eventfd) is of none.
        __proviso_assume((kind <= 12) & ((kind == 1) | (kind % 2 == 0)));
        int at = size == PROVISO_STAT ? PROVISO_STAT_TIMES : PROVISO_STAT64_TIMES;
        unsigned long *times = (unsigned long *)((char *)status + at);
        __proviso_assume((times[1] < 1000000000) & (times[3] < 1000000000) & (times[5] < 1000000000));
    }
    return result;
}

static int proviso_stat_path(const char *path, void *status, size_t size) {
    proviso_strlen(path);
    return proviso_stat(status, size);
}

int stat(const char *path, void *status) { return proviso_stat_path(path, status, PROVISO_STAT); }
int lstat(const char *path, void *status) { return proviso_stat_path(path, status, PROVISO_STAT); }
int fstat(int file, void *status) { return proviso_stat(status, PROVISO_STAT); }
int stat64(const char *path, void *status) { return proviso_stat_path(path, status, PROVISO_STAT64); }
int lstat64(const char *path, void *status) { return proviso_stat_path(path, status, PROVISO_STAT64); }
int fstat64(int file, void *status) { return proviso_stat(status, PROVISO_STAT64); }

// What was set before, from the second call on.
unsigned umask(unsigned mode) {
    static unsigned kept;
    static _Bool known;
    unsigned before = known ? kept : (unsigned)proviso_env_between(0, 0777);
    kept = mode & 0777;
    known = 1;
    return before;
}

// Locks read and write a structure, which is not followed.
static int proviso_fcntl(int command) {
    if (command > 4 && command != 1030)
        __proviso_unmodelled("this command of fcntl is not modelled");
    return proviso_descriptor();
}

int fcntl(int file, int command, ...) { return proviso_fcntl(command); }
int fcntl64(int file, int command, ...) { return proviso_fcntl(command); }
