// Defines: read write open open64 creat close lseek lseek64 unlink rmdir mkdir access chdir dup dup2 pipe isatty fsync
// Defines: __read_chk getpid getppid getuid geteuid getgid getegid getpagesize getcwd gethostname sysconf
// Defines: getentropy getrandom stat lstat fstat stat64 lstat64 fstat64 umask fcntl fcntl64
#pragma once
#include "descriptors.c"

// Calls of the operating system. They read their arguments, and the environment determines their results.

static int proviso_outcome(void) {
    int result = proviso_env_between(-1, 0);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

static int proviso_failure(void) {
    SET_ERRNO(proviso_env_error());
    return -1;
}

// The result of an operation on an open file.
static int proviso_outcome_of(int file) {
    _Bool closed = proviso_is_closed(file);
    int result = proviso_env_between(-1, 0);
    __proviso_assume((result < 0) | !closed);
    SET_ERRNO_IF(result < 0, proviso_descriptor_error(closed));
    return result;
}

// A count, or -1.
static int proviso_count_or_failure(void) {
    int result = proviso_env_between(-1, INT_MAX);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

// A new descriptor of a file that is opened with these flags.
static int proviso_descriptor(int flags, _Bool may_seek) {
    int result = proviso_new_descriptor(flags, may_seek);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

// Called when data were read or written.
static void proviso_transferred(int file, _Bool writes) {
    if (!writes)
        proviso_reads_own_end(file);
#ifdef PROVISO_FILES
    struct proviso_file *of = proviso_file_of(file);
    if (writes)
        of->written = 1;
    else if (of->written)
        proviso_reads_own_output();
#endif
}

// The number of bytes read or written, at most `size`, or -1.
static ssize_t proviso_transfer(int file, size_t size, _Bool writes) {
    _Bool closed = proviso_is_closed(file) | proviso_is_one_way(file, writes ? PROVISO_READS : PROVISO_WRITES);
    ssize_t n = __proviso_env_size();
    __proviso_assume((n == -1) | ((n >= 0) & ((size_t)n <= size) & !closed));
    __proviso_assume((n <= 0) | writes | !proviso_is_at_end_of_pipe(file));
    SET_ERRNO_IF(n < 0, proviso_descriptor_error(closed));
    if (n > 0)
        proviso_transferred(file, writes);
    return n;
}

// Reads from a file without moving its offset.
static ssize_t proviso_read_file(int file, void *buffer, size_t size) {
    proviso_waits_for_data(file, size);
    ssize_t n = proviso_transfer(file, size, 0);
    if (n > 0)
        __proviso_env_memory(buffer, n);
    return n;
}

static ssize_t proviso_read_next(int file, void *buffer, size_t size) {
    ssize_t n = proviso_read_file(file, buffer, size);
    proviso_move_offset(file, n, 0);
    return n;
}

ssize_t read(int file, void *buffer, size_t size) { return proviso_read_next(file, buffer, size); }

ssize_t __read_chk(int file, void *buffer, size_t size, size_t object_size) {
    if (size > object_size)
        __proviso_abort();
    return proviso_read_next(file, buffer, size);
}

ssize_t getrandom(void *buffer, size_t size, unsigned flags) {
    ssize_t n = __proviso_env_size();
    __proviso_assume((n == -1) | ((n >= 0) & ((size_t)n <= size)));
    SET_ERRNO_IF(n < 0, proviso_env_error());
    if (n > 0)
        __proviso_env_memory(buffer, n);
    return n;
}

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

// Writes to a file without moving its offset.
static ssize_t proviso_write_file(int file, const void *data, size_t size) {
    ssize_t n = proviso_transfer(file, size, 1);
    proviso_puts_into_pipe(file, n);
    proviso_put_out(data, size);
    return n;
}

ssize_t write(int file, const void *data, size_t size) {
    ssize_t n = proviso_write_file(file, data, size);
    proviso_move_offset(file, n, 1);
    return n;
}

static int proviso_open_path(const char *path, int flags) {
    int error = proviso_path_error(path), result = proviso_descriptor(flags, 1);
    __proviso_assume_optionally((result < 0) | !error);
    SET_ERRNO_IF(error, error);
    return result;
}

int open(const char *path, int flags, ...) { return proviso_open_path(path, flags); }
int open64(const char *path, int flags, ...) { return proviso_open_path(path, flags); }
// O_WRONLY.
int creat(const char *path, unsigned mode) { return proviso_open_path(path, 1); }

// Linux closes the descriptor even if it reports an error.
int close(int file) {
    int result = proviso_outcome_of(file);
#ifdef PROVISO_ERRNO
    __proviso_assume((result == 0) | !proviso_is_open(file) | (proviso_errno != EBADF));
#endif
    if (!proviso_is_closed(file))
        proviso_closed(file);
    return result;
}

int fsync(int file) { return proviso_outcome_of(file); }

// A property of a file that only the program changes, unless the file was open before the program started.
static void proviso_stays(struct proviso_file *of, _Bool same) {
    if (of->own)
        __proviso_assume(same);
    else if (!same)
        __proviso_overapproximated("a file that was open at the start may be changed by other processes");
}

// `whence` is the start, the current offset, the end, the next data or the next hole. -1 if the offset would be negative or above `max`, or if the file has no offsets.
static long long proviso_lseek(int file, long long offset, int whence, long long max) {
    struct proviso_file *of = proviso_file_of(file);
    long long result = __proviso_env_longlong(), target = result;
    _Bool moves = result >= 0, valid = !proviso_is_closed(file) & (whence >= 0) & (whence <= 4);
    // A stream moves the offset, too.
    _Bool has_offset = of->offset >= 0 && !of->of_stream;
    _Bool is_known = whence == 0 || (whence == 1 && has_offset && of->own);
    if (whence == 0)
        target = offset;
    else if (is_known)
        valid &= !__builtin_add_overflow(of->offset, offset, &target);
    else
        __proviso_assume(!moves | (result >= offset));
    _Bool possible = valid & (of->seekable != 0);
    // If a file has offsets at all, these exist: offsets that every system supports, and the current one.
    _Bool exists = is_known & (target >= 0) & (target <= max) & ((target <= 0x7fffffff) | (target <= of->offset));
    exists |= whence == 1 && offset == 0 && sizeof(long) == 8;
    __proviso_assume((result >= -1) & (result <= max) & (!moves | (possible & (result == target))));
    __proviso_assume(moves | !valid | !exists | (of->seekable < 1));
    if (!moves) {
        SET_ERRNO(proviso_descriptor_error(proviso_is_closed(file)));
#ifdef PROVISO_ERRNO
        __proviso_assume(!valid | !exists | !proviso_is_open(file) | (proviso_errno == ESPIPE));
#endif
        if (valid && exists)
            of->seekable = 0;
        return -1;
    }
    if (of->of_stream && whence == 1)
        __proviso_overapproximated("the offset of a file that a stream reads or writes is not modelled exactly");
    if (whence == 1 && has_offset)
        proviso_stays(of, result - offset == of->offset);
    of->seekable = 1;
    of->offset = of->of_stream ? -1 : result;
    return result;
}

long lseek(int file, long offset, int whence) { return proviso_lseek(file, offset, whence, LONG_MAX); }

long long lseek64(int file, long long offset, int whence) { return proviso_lseek(file, offset, whence, LLONG_MAX); }

static int proviso_path_outcome(const char *path) {
    int error = proviso_path_error(path), result = proviso_outcome();
    __proviso_assume_optionally((result < 0) | !error);
    SET_ERRNO_IF(error, error);
    return result;
}

// With AT_EMPTY_PATH, an empty path names the folder itself.
static int proviso_path_outcome_at(const char *path, int flags) {
    return flags & 0x1000 && !*path ? proviso_outcome() : proviso_path_outcome(path);
}

int unlink(const char *path) { return proviso_path_outcome(path); }
int rmdir(const char *path) { return proviso_path_outcome(path); }
int mkdir(const char *path, unsigned mode) { return proviso_path_outcome(path); }
int access(const char *path, int mode) {
    // Linux checks the mode before the path.
    if (mode & ~7) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    return proviso_path_outcome(path);
}

// A new descriptor of a file: the least free one from `least` on.
static int proviso_duplicate_from(int file, int least, _Bool closes_on_exec) {
    _Bool closed = proviso_is_closed(file);
    int result = proviso_env_between(-1, PROVISO_GREATEST_DESCRIPTOR);
    __proviso_assume((result < 0) | (!closed & (result != file) & (least >= 0)));
    SET_ERRNO_IF(result < 0, proviso_descriptor_error(closed));
    if (result >= 0) {
        proviso_opens(result, least);
        proviso_share_file(result, file, closes_on_exec);
    }
    return result;
}

int dup(int file) { return proviso_duplicate_from(file, 0, 0); }

// Makes the descriptor `to` one of the file.
static int proviso_duplicate_to(int file, int to, _Bool closes_on_exec) {
    _Bool same = (to == file) & proviso_is_open(file);
    int result = proviso_outcome_of(file);
    __proviso_assume((result == 0) | !same);
    if (result < 0)
        return -1;
    __proviso_assume(to >= 0);
    if (to != file)
        proviso_duplicates(to, file, closes_on_exec);
    return to;
}

int dup2(int file, int to) { return proviso_duplicate_to(file, to, 0); }

// The least free descriptors, for an object without offsets.
static int proviso_two_ends(int ends[2], int flags, int other_flags) {
    int result = proviso_outcome();
    if (result == 0) {
        int first = proviso_new_descriptor(flags, 0), second = proviso_new_descriptor(other_flags, 0);
        __proviso_assume((first >= 0) & (second >= 0));
        proviso_add_own_end(first);
        if (other_flags & PROVISO_READS_AND_WRITES)
            proviso_add_own_end(second);
        proviso_makes_pipe(first, second, !((flags | other_flags) & (PROVISO_NONBLOCK | PROVISO_READS_AND_WRITES)));
        ends[0] = first;
        ends[1] = second;
    }
    return result;
}

// One end is read from, the other is written to.
int pipe(int ends[2]) { return proviso_two_ends(ends, 0, 1); }

// An object that is no terminal does not become one.
static _Bool proviso_may_be_terminal(int file) {
    _Bool closed = proviso_is_closed(file);
    return !closed && proviso_file_of(file)->terminal != 0;
}

static int proviso_terminal_outcome(int file) {
    _Bool possible = proviso_may_be_terminal(file);
    int result = proviso_env_between(-1, 0);
    __proviso_assume((result < 0) | possible);
    SET_ERRNO_IF(result < 0, proviso_descriptor_error(proviso_is_closed(file)));
    return result;
}

int isatty(int file) {
    int result = proviso_terminal_outcome(file) + 1;
    if (!result && file >= 0)
        proviso_file_of(file)->terminal = 0;
    return result;
}

// The identity of the program: constant until the program changes it.
enum {
    PROVISO_PROCESS,
    PROVISO_USER,
    PROVISO_EFFECTIVE_USER,
    PROVISO_SAVED_USER,
    PROVISO_GROUP,
    PROVISO_EFFECTIVE_GROUP,
    PROVISO_SAVED_GROUP,
    PROVISO_GROUP_OF_PROCESSES,
    PROVISO_SESSION,
    PROVISO_IDENTITIES
};
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

// The last result of `getppid`.
static int proviso_parent = -1;

static int proviso_own_number(void) {
    int self = proviso_identity(PROVISO_PROCESS, proviso_env_between(1, INT_MAX));
    __proviso_assume(self != proviso_parent);
    return self;
}

int getpid(void) { return proviso_own_number(); }
// If a parent ends, another process becomes the parent. No parent is the program itself.
int getppid(void) {
    int parent = proviso_env_between(0, INT_MAX);
    int self = proviso_identities[PROVISO_PROCESS].number;
    __proviso_assume(!proviso_identities[PROVISO_PROCESS].known | (parent != self));
    proviso_parent = parent;
    return parent;
}
unsigned getuid(void) { return proviso_identity(PROVISO_USER, __proviso_env_int()); }
unsigned geteuid(void) { return proviso_identity(PROVISO_EFFECTIVE_USER, __proviso_env_int()); }
unsigned getgid(void) { return proviso_identity(PROVISO_GROUP, __proviso_env_int()); }
unsigned getegid(void) { return proviso_identity(PROVISO_EFFECTIVE_GROUP, __proviso_env_int()); }
int getpagesize(void) { return 4096; }

// Constant numbers, one for each argument.
enum { PROVISO_KEPT_LIMITS = 8 };
struct proviso_limits {
    int count;
    struct {
        int name;
        long value;
    } kept[PROVISO_KEPT_LIMITS];
};

static void proviso_keep_limit(struct proviso_limits *limits, int name, long value) {
    for (int i = 0; i < limits->count; i++) {
        if (limits->kept[i].name == name) {
            __proviso_assume(value == limits->kept[i].value);
            return;
        }
    }
    if (limits->count == PROVISO_KEPT_LIMITS) {
        __proviso_overapproximated("the program queries more limits than are modelled");
        return;
    }
    limits->kept[limits->count].name = name;
    limits->kept[limits->count].value = value;
    limits->count++;
}

static struct proviso_limits proviso_limits_of_system;

enum { PROVISO_ARG_MAX = 0, PROVISO_OPEN_MAX = 4 };

// Names of limits are small numbers.
static _Bool proviso_is_no_limit(int name) { return name < 0 || name >= 1024; }

// The bounds of `sysconf` results: those of POSIX, as far as Linux conforms. Limits that a user can lower may be 0.
static _Bool proviso_is_possible(int name, long value) {
    enum { CLK_TCK = 2, NGROUPS_MAX = 3, STREAM_MAX = 5, VERSION = 29, PAGESIZE = 30, RTSIG_MAX = 31, SEM_VALUE_MAX = 33 };
    enum { LINE_MAX = 43, RE_DUP_MAX = 44, IOV_MAX = 60, LOGIN_NAME_MAX = 71, TTY_NAME_MAX = 72, HOST_NAME_MAX = 180 };
    enum { NPROCESSORS_CONF = 83, NPROCESSORS_ONLN = 84, PHYS_PAGES = 85, AVPHYS_PAGES = 86 };
    enum { CHAR_MIN = 103, INT_MIN = 105, SCHAR_MIN = 112, SHRT_MIN = 114 };
    if (proviso_is_no_limit(name))
        return value == -1;
    switch (name) {
    case PAGESIZE:
        return value == 4096;
    case CLK_TCK:
        return value == 100;
    case NPROCESSORS_CONF:
    case NPROCESSORS_ONLN:
    case PHYS_PAGES:
        return value >= 1;
    case AVPHYS_PAGES:
        return value >= 0;
    case VERSION:
        return value >= 200112;
    case CHAR_MIN:
    case INT_MIN:
    case SCHAR_MIN:
    case SHRT_MIN:
        return 1;
    }
    long least = (name == PROVISO_ARG_MAX) * 4096 + (name == NGROUPS_MAX || name == STREAM_MAX || name == RTSIG_MAX) * 8 +
                 (name == SEM_VALUE_MAX) * 32767 + (name == LINE_MAX) * 2048 + (name == RE_DUP_MAX) * 255 +
                 (name == IOV_MAX) * 16 + (name == LOGIN_NAME_MAX || name == TTY_NAME_MAX) * 9 + (name == HOST_NAME_MAX) * 64;
    // -1 means that there is no limit.
    return (value == -1) | (value >= least);
}

// The limit of open files has two sources: 1 for `sysconf`, 2 for `getrlimit`.
static void proviso_asks_open_max(int way) {
    static int ways;
    ways |= way;
    if (ways == 3)
        __proviso_overapproximated("sysconf and getrlimit may return different limits");
}

// The numbers of processors and of free memory may change at any time. -1 without an error means that there is no limit.
static long proviso_sysconf(int name) {
    enum { NPROCESSORS_ONLN = 84, AVPHYS_PAGES = 86 };
    long value = __proviso_env_long();
    __proviso_assume(proviso_is_possible(name, value));
    if (name == PROVISO_OPEN_MAX)
        proviso_asks_open_max(1);
    if (name != NPROCESSORS_ONLN && name != AVPHYS_PAGES)
        proviso_keep_limit(&proviso_limits_of_system, name, value);
    return value;
}

long sysconf(int name) {
    long value = proviso_sysconf(name);
    SET_ERRNO_IF(value == -1 && (__proviso_env_bool() || proviso_is_no_limit(name)), EINVAL);
    return value;
}

// A name of this length: it has no null before.
static void proviso_env_text(char *buffer, size_t length) {
    __proviso_env_memory(buffer, length);
    for (size_t i = 0; i < length; i++)
        __proviso_assume(buffer[i] != 0);
}

// A name that does not fit is truncated without a null. Privileged processes may change the host's name at any time.
int gethostname(char *buffer, size_t size) {
    static _Bool asked;
    if (asked)
        __proviso_overapproximated("two calls may return different names of the host");
    asked = 1;
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

// In the root, the path is known. The path of any other directory may differ in each call.
static _Bool proviso_in_root;

int chdir(const char *path) {
    int result = proviso_path_outcome(path);
    proviso_in_root = (result == 0 && path[0] == '/' && path[1] == 0) || (result < 0 && proviso_in_root);
    return result;
}

char *getcwd(char *buffer, size_t size) {
    static _Bool asked;
    if (asked && !proviso_in_root)
        __proviso_overapproximated("two calls of getcwd may return different paths");
    asked = 1;
    int outcome = proviso_outcome();
    if (size == 0 && buffer) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    if (outcome < 0)
        return NULL;
    size_t length = __proviso_env_size();
    __proviso_assume((length > 0) & (length < 4096) & (!proviso_in_root | (length == 1)));
    if (size > 0 && length >= size) {
        SET_ERRNO(ERANGE);
        return NULL;
    }
    if (!buffer)
        buffer = malloc(size ? size : length + 1);
    if (!buffer)
        return NULL;
    proviso_env_text(buffer, length);
    __proviso_assume(buffer[0] == '/');
    buffer[length] = 0;
    return buffer;
}

// The known properties of a file, as far as the structure has them: the byte with the sign of `st_size`, the offset of the mode, and the times.
#if __SIZEOF_POINTER__ == 8
enum { PROVISO_STAT = 144, PROVISO_STAT64 = 144, PROVISO_STAT_SIGN = 55, PROVISO_STAT64_SIGN = 55 };
enum { PROVISO_STAT_MODE = 24, PROVISO_STAT_TIMES = 72, PROVISO_STAT64_TIMES = 72 };
#else
enum { PROVISO_STAT = 88, PROVISO_STAT64 = 96, PROVISO_STAT_SIGN = 47, PROVISO_STAT64_SIGN = 51 };
enum { PROVISO_STAT_MODE = 16, PROVISO_STAT_TIMES = 56, PROVISO_STAT64_TIMES = 64 };
#endif

// The size of a file is not negative, its kind is an existing one, and its times are valid.
static int proviso_stat(void *status, size_t size, int result) {
    if (result == 0) {
        __proviso_env_memory(status, size);
        int sign = size == PROVISO_STAT ? PROVISO_STAT_SIGN : PROVISO_STAT64_SIGN;
        __proviso_assume(((signed char *)status)[sign] >= 0);
        unsigned kind = *(unsigned *)((char *)status + PROVISO_STAT_MODE) >> 12;
        // Objects without a name (epoll, eventfd) have no kind.
        __proviso_assume((kind <= 12) & ((kind == 1) | (kind % 2 == 0)));
        int at = size == PROVISO_STAT ? PROVISO_STAT_TIMES : PROVISO_STAT64_TIMES;
        unsigned long *times = (unsigned long *)((char *)status + at);
        __proviso_assume((times[1] < 1000000000) & (times[3] < 1000000000) & (times[5] < 1000000000));
    }
    return result;
}

// The kind of a symbolic link.
enum { PROVISO_LINK = 10 };

// The device, number and kind of an open file do not change.
static int proviso_stat_descriptor(int descriptor, void *status, size_t size) {
    int result = proviso_stat(status, size, proviso_outcome_of(descriptor));
    if (result < 0)
        return -1;
    struct proviso_file *of = proviso_file_of(descriptor);
    unsigned long long device = *(unsigned long long *)status;
    unsigned long number = *(unsigned long *)((char *)status + (sizeof(long) == 8 ? 8 : 12));
    unsigned kind = *(unsigned *)((char *)status + PROVISO_STAT_MODE) >> 12;
    __proviso_assume(!of->identified | ((device == of->device) & (number == of->number) & (kind == of->kind)));
    // Pipes and sockets have no offsets. Terminals are devices.
    __proviso_assume((of->seekable < 1) | ((kind != 1) & (kind != 12)));
    // Only O_PATH opens a symbolic link itself.
    enum { O_PATH = 010000000 };
    __proviso_assume(!of->own | ((of->flags & O_PATH) != 0) | (kind != PROVISO_LINK));
    of->identified = 1;
    of->device = device;
    of->number = number;
    of->kind = kind;
    return 0;
}

// The status of the file that a path leads to, which is no symbolic link if the function follows links.
static int proviso_stat_path(void *status, size_t size, int result, _Bool follows) {
    if (proviso_stat(status, size, result) < 0)
        return -1;
    unsigned kind = *(unsigned *)((char *)status + PROVISO_STAT_MODE) >> 12;
    __proviso_assume(!follows | (kind != PROVISO_LINK));
    return 0;
}

int stat(const char *path, void *status) {
    return proviso_stat_path(status, PROVISO_STAT, proviso_path_outcome(path), 1);
}
int lstat(const char *path, void *status) {
    return proviso_stat_path(status, PROVISO_STAT, proviso_path_outcome(path), 0);
}
int fstat(int file, void *status) { return proviso_stat_descriptor(file, status, PROVISO_STAT); }
int stat64(const char *path, void *status) {
    return proviso_stat_path(status, PROVISO_STAT64, proviso_path_outcome(path), 1);
}
int lstat64(const char *path, void *status) {
    return proviso_stat_path(status, PROVISO_STAT64, proviso_path_outcome(path), 0);
}
int fstat64(int file, void *status) { return proviso_stat_descriptor(file, status, PROVISO_STAT64); }

// The value that was set before, from the second call on.
unsigned umask(unsigned mode) {
    static unsigned kept;
    static _Bool known;
    unsigned before = known ? kept : (unsigned)proviso_env_between(0, 0777);
    kept = mode & 0777;
    known = 1;
    return before;
}

// New descriptors, flags of descriptors, flags of files. Locks read and write a structure that is not modelled.
static int proviso_fcntl(int file, int command, int argument) {
    enum { F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC = 1030, O_LARGEFILE = 0100000 };
    // O_APPEND, O_NONBLOCK, O_ASYNC, O_DIRECT, O_NOATIME.
    enum { CHANGED = 01066000 };
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        return proviso_duplicate_from(file, argument, command == F_DUPFD_CLOEXEC);
    if (command < 0 || command > F_SETFL) {
        __proviso_unmodelled("this command of fcntl is not modelled");
        return proviso_count_or_failure();
    }
    _Bool closed = proviso_is_closed(file), open = proviso_is_open(file), asks = command == F_GETFD || command == F_GETFL;
    int result = proviso_env_between(-1, asks ? INT_MAX : 0);
    __proviso_assume(result < 0 ? !open | (command == F_SETFL) : !closed);
    SET_ERRNO_IF(result < 0, proviso_descriptor_error(closed));
    if (result < 0)
        return -1;
    struct proviso_file *of = proviso_file_of(file);
    int known = proviso_find_descriptor(file);
    signed char *closes_on_exec = &proviso_closes_on_exec[known];
    if (known == proviso_known_count)
        *closes_on_exec = -1;
    switch (command) {
    case F_GETFD:
        __proviso_assume((result <= 1) & ((*closes_on_exec < 0) | (result == *closes_on_exec)));
        *closes_on_exec = result;
        break;
    case F_SETFD:
        *closes_on_exec = argument & 1;
        break;
    case F_GETFL:
        if (of->of_stream && of->flags < 0)
            __proviso_overapproximated("the flags of a file that a stream opened are not modelled");
        proviso_stays(of, of->flags < 0 || (result & ~O_LARGEFILE) == of->flags);
        of->flags = result & ~O_LARGEFILE;
        break;
    case F_SETFL:
        proviso_shares_pipe(file);
        if (of->flags < 0)
            of->flags = proviso_env_between(0, INT_MAX) & ~O_LARGEFILE;
        of->flags = (of->flags & ~CHANGED) | (argument & CHANGED);
    }
    return result;
}

// The argument, if the command takes a number.
#define PROVISO_FCNTL(function)                                                                                      \
    int function(int file, int command, ...) {                                                                       \
        int argument = 0;                                                                                            \
        if (command == 0 || command == 2 || command == 4 || command == 1030) {                                       \
            va_list list;                                                                                            \
            va_start(list, command);                                                                                 \
            argument = va_arg(list, int);                                                                            \
            va_end(list);                                                                                            \
        }                                                                                                            \
        return proviso_fcntl(file, command, argument);                                                               \
    }
PROVISO_FCNTL(fcntl)
PROVISO_FCNTL(fcntl64)
