// Defines: chmod fchmod lchmod chown fchown lchown link symlink readlink __readlink_chk realpath __realpath_chk
// Defines: canonicalize_file_name truncate ftruncate truncate64 ftruncate64 fdatasync sync syncfs chroot fchdir mkfifo mknod
// Defines: dup3 pipe2 flock lockf posix_fadvise posix_fallocate mkstemp mkstemp64 mkostemp mkstemps mkdtemp mktemp
// Defines: pread pread64 pwrite pwrite64 __pread_chk readv writev preadv pwritev utime utimes futimes utimensat futimens
// Defines: openat openat64 __open_2 __open64_2 __openat_2 __openat64_2 unlinkat mkdirat renameat linkat symlinkat readlinkat
// Defines: faccessat fchmodat fchownat fstatat fstatat64 euidaccess pathconf fpathconf getdtablesize tcgetattr tcsetattr
// Defines: tcflush tcdrain tcsendbreak tcflow tcgetpgrp tcsetpgrp cfgetospeed cfgetispeed cfsetospeed cfsetispeed ioctl
// Defines: select poll __poll_chk copy_file_range sendfile sendfile64 renameat2 mkfifoat mknodat fallocate fallocate64
// Defines: posix_fallocate64 posix_fadvise64 mkostemp64 statx statfs fstatfs statfs64 fstatfs64 statvfs fstatvfs statvfs64
// Defines: fstatvfs64 gnu_dev_major gnu_dev_minor gnu_dev_makedev inotify_init inotify_init1 inotify_add_watch
// Defines: inotify_rm_watch
#pragma once
#include "unistd.c"

// Files, terminals, and waiting: the other functions of unistd.h, sys/stat.h, stdlib.h, termios.h, sys/select.h, poll.h.

static int proviso_two_paths(const char *from, const char *to) {
    int error = proviso_path_error(from), result = proviso_path_outcome(to);
    __proviso_assume_optionally((result < 0) | !error);
    SET_ERRNO_IF(error, error);
    return result;
}

int chmod(const char *path, unsigned mode) { return proviso_path_outcome(path); }
int lchmod(const char *path, unsigned mode) { return proviso_path_outcome(path); }
int fchmod(int file, unsigned mode) { return proviso_outcome_of(file); }
int chown(const char *path, unsigned user, unsigned group) { return proviso_path_outcome(path); }
int lchown(const char *path, unsigned user, unsigned group) { return proviso_path_outcome(path); }
int fchown(int file, unsigned user, unsigned group) { return proviso_outcome_of(file); }
int link(const char *from, const char *to) { return proviso_two_paths(from, to); }
int symlink(const char *from, const char *to) { return proviso_two_paths(from, to); }
int truncate(const char *path, long size) { return proviso_path_outcome(path); }
int truncate64(const char *path, long long size) { return proviso_path_outcome(path); }
int ftruncate(int file, long size) { return proviso_outcome_of(file); }
int ftruncate64(int file, long long size) { return proviso_outcome_of(file); }
int fdatasync(int file) { return proviso_outcome_of(file); }
int syncfs(int file) { return proviso_outcome_of(file); }
void sync(void) {}
// The working directory does not change, and may be outside the new root.
int chroot(const char *path) {
    proviso_in_root = 0;
    return proviso_path_outcome(path);
}
int fchdir(int file) {
    int result = proviso_outcome_of(file);
    proviso_in_root &= result < 0;
    return result;
}
int mkfifo(const char *path, unsigned mode) { return proviso_path_outcome(path); }
int mknod(const char *path, unsigned mode, unsigned long long device) { return proviso_path_outcome(path); }

// The parts of the number of a device.
unsigned gnu_dev_major(unsigned long long device) { return (device >> 8 & 0xfff) | (device >> 32 & ~0xfffu); }
unsigned gnu_dev_minor(unsigned long long device) { return (device & 0xff) | (device >> 12 & ~0xffu); }
unsigned long long gnu_dev_makedev(unsigned major, unsigned minor) {
    unsigned long long high = major, low = minor;
    return (high & 0xfff) << 8 | (high & ~0xfffull) << 32 | (low & 0xff) | (low & ~0xffull) << 12;
}

// A lock of another descriptor may be one of the same file.
int flock(int file, int operation) {
    enum { LOCK_NB = 4, LOCK_UN = 8 };
    static int holder = -1;
    if (!(operation & (LOCK_NB | LOCK_UN)) && holder >= 0 && file != holder) {
        proviso_may_wait_for_ever("flock may wait for ever: the program's own locks of files are not modelled");
        __proviso_overapproximated("flock may wait for ever: the program's own locks of files are not modelled");
    }
    int result = proviso_outcome_of(file);
    if (result == 0 && !(operation & LOCK_UN))
        holder = file;
    return result;
}
int lockf(int file, int operation, long size) { return proviso_outcome_of(file); }
int euidaccess(const char *path, int mode) { return proviso_path_outcome(path); }
// The limit that `sysconf` returns for _SC_OPEN_MAX.
int getdtablesize(void) {
    long value = proviso_sysconf(PROVISO_OPEN_MAX);
    __proviso_assume((value >= 0) & (value <= INT_MAX));
    return value;
}

// These functions return the error number.
static int proviso_error_of(int file) {
    int error = proviso_env_between(0, 133);
    __proviso_assume((error == EBADF) | !proviso_is_closed(file));
    return error;
}
int posix_fadvise(int file, long from, long size, int advice) { return proviso_error_of(file); }
int posix_fadvise64(int file, long long from, long long size, int advice) { return proviso_error_of(file); }
static int proviso_reserve(int file, long long from, long long size) {
    int error = proviso_error_of(file);
    __proviso_assume((error != 0) | ((from >= 0) & (size > 0)));
    return error;
}
int posix_fallocate(int file, long from, long size) { return proviso_reserve(file, from, size); }
int posix_fallocate64(int file, long long from, long long size) { return proviso_reserve(file, from, size); }
static int proviso_fallocate(int file, long long from, long long size) {
    int result = proviso_outcome_of(file);
    __proviso_assume((result < 0) | ((from >= 0) & (size > 0)));
    return result;
}
int fallocate(int file, int mode, long from, long size) { return proviso_fallocate(file, from, size); }
int fallocate64(int file, int mode, long long from, long long size) { return proviso_fallocate(file, from, size); }

int dup3(int file, int to, int flags) {
    if (file == to) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    return proviso_duplicate_to(file, to, (flags & PROVISO_CLOSES_ON_EXEC) != 0);
}

int pipe2(int ends[2], int flags) { return proviso_two_ends(ends, flags, flags | 1); }

// Names relative to an open directory.
int openat(int folder, const char *path, int flags, ...) { return proviso_open_path(path, flags); }
int openat64(int folder, const char *path, int flags, ...) { return proviso_open_path(path, flags); }
int __openat_2(int folder, const char *path, int flags) { return proviso_open_path(path, flags); }
int __openat64_2(int folder, const char *path, int flags) { return proviso_open_path(path, flags); }
int __open_2(const char *path, int flags) { return proviso_open_path(path, flags); }
int __open64_2(const char *path, int flags) { return proviso_open_path(path, flags); }
int unlinkat(int folder, const char *path, int flags) { return proviso_path_outcome(path); }
int mkdirat(int folder, const char *path, unsigned mode) { return proviso_path_outcome(path); }
int renameat(int from_folder, const char *from, int folder, const char *to) { return proviso_two_paths(from, to); }
int renameat2(int from_folder, const char *from, int folder, const char *to, unsigned flags) {
    return proviso_two_paths(from, to);
}
int mkfifoat(int folder, const char *path, unsigned mode) { return proviso_path_outcome(path); }
int mknodat(int folder, const char *path, unsigned mode, unsigned long long device) { return proviso_path_outcome(path); }
int linkat(int from_folder, const char *from, int folder, const char *to, int flags) {
    if (flags & 0x1000 && !*from)
        return proviso_path_outcome(to);
    return proviso_two_paths(from, to);
}
int symlinkat(const char *from, int folder, const char *to) { return proviso_two_paths(from, to); }
int faccessat(int folder, const char *path, int mode, int flags) { return proviso_path_outcome_at(path, flags); }
int fchmodat(int folder, const char *path, unsigned mode, int flags) {
    return proviso_path_outcome_at(path, flags);
}
int fchownat(int folder, const char *path, unsigned user, unsigned group, int flags) {
    return proviso_path_outcome_at(path, flags);
}
// True if no symbolic link is the result.
static _Bool proviso_follows_links(int flags) {
    enum { AT_SYMLINK_NOFOLLOW = 0x100, AT_EMPTY_PATH = 0x1000 };
    return !(flags & (AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH));
}
static int proviso_stat_at(const char *path, void *status, size_t size, int flags) {
    return proviso_stat_path(status, size, proviso_path_outcome_at(path, flags), proviso_follows_links(flags));
}
int fstatat(int folder, const char *path, void *status, int flags) {
    return proviso_stat_at(path, status, PROVISO_STAT, flags);
}
int fstatat64(int folder, const char *path, void *status, int flags) {
    return proviso_stat_at(path, status, PROVISO_STAT64, flags);
}

// The structure of statx. The times are those of access, creation, change of the status, and modification.
struct proviso_status {
    unsigned mask, block_size;
    unsigned long long attributes;
    unsigned links, user, group;
    unsigned short mode, spare;
    unsigned long long number, size, blocks, attributes_mask;
    struct {
        long long seconds;
        unsigned nanoseconds, spare;
    } times[4];
    unsigned char rest[128];
};
int statx(int folder, const char *path, int flags, unsigned mask, struct proviso_status *status) {
    int result = proviso_path_outcome_at(path, flags);
    if (result < 0)
        return -1;
    __proviso_env_memory(status, sizeof *status);
    unsigned kind = status->mode >> 12;
    __proviso_assume((kind <= 12) & ((kind == 1) | (kind % 2 == 0)));
    __proviso_assume((kind != PROVISO_LINK) | !proviso_follows_links(flags));
    __proviso_assume(status->size <= LLONG_MAX);
    for (int i = 0; i < 4; i++)
        __proviso_assume(status->times[i].nanoseconds < 1000000000);
    return 0;
}

// The sizes of file systems.
#if __SIZEOF_POINTER__ == 8
enum { PROVISO_STATFS = 120, PROVISO_STATFS64 = 120, PROVISO_STATVFS = 112, PROVISO_STATVFS64 = 112 };
#else
enum { PROVISO_STATFS = 64, PROVISO_STATFS64 = 84, PROVISO_STATVFS = 72, PROVISO_STATVFS64 = 96 };
#endif
static int proviso_system_status(int result, void *status, size_t size) {
    if (result == 0) {
        __proviso_overapproximated("the status of a file system is not modelled exactly");
        __proviso_env_memory(status, size);
    }
    return result;
}
#define SYSTEM_STATUS(function, size)                                                                                \
    int function(const char *path, void *status) {                                                                   \
        return proviso_system_status(proviso_path_outcome(path), status, size);                                      \
    }                                                                                                                \
    int f##function(int file, void *status) { return proviso_system_status(proviso_outcome_of(file), status, size); }
SYSTEM_STATUS(statfs, PROVISO_STATFS)
SYSTEM_STATUS(statfs64, PROVISO_STATFS64)
SYSTEM_STATUS(statvfs, PROVISO_STATVFS)
SYSTEM_STATUS(statvfs64, PROVISO_STATVFS64)

// Notices of changes of files.
int inotify_init(void) { return proviso_descriptor(0, 0); }
int inotify_init1(int flags) { return proviso_descriptor(flags, 0); }
int inotify_add_watch(int file, const char *path, unsigned mask) {
    int result = proviso_path_outcome(path), watch = proviso_env_between(1, INT_MAX);
    _Bool closed = proviso_is_closed(file);
    __proviso_assume((result < 0) | !closed);
    return result < 0 ? -1 : watch;
}
int inotify_rm_watch(int file, int watch) { return proviso_outcome_of(file); }

// Times: two numbers, or null for the current time.
static int proviso_set_times(const char *path, const void *times, size_t size, int flags) {
    if (times)
        proviso_read(times, size);
    return path ? proviso_path_outcome_at(path, flags) : proviso_outcome();
}

int utime(const char *path, const void *times) { return proviso_set_times(path, times, 2 * sizeof(long), 0); }
int utimes(const char *path, const void *times) { return proviso_set_times(path, times, 4 * sizeof(long), 0); }
static int proviso_set_times_of(int file, const void *times) {
    if (times)
        proviso_read(times, 4 * sizeof(long));
    return proviso_outcome_of(file);
}
int futimes(int file, const void *times) { return proviso_set_times_of(file, times); }
int futimens(int file, const void *times) { return proviso_set_times_of(file, times); }
int utimensat(int folder, const char *path, const void *times, int flags) {
    return proviso_set_times(path, times, 4 * sizeof(long), flags);
}

// The target of a link: not null-terminated, and truncated to the buffer.
static ssize_t proviso_read_link(int outcome, char *buffer, size_t size) {
    if (size == 0 || outcome < 0)
        return proviso_failure();
    size_t length = __proviso_env_size();
    __proviso_assume((length > 0) & (length <= size) & (length < 4096));
    proviso_env_text(buffer, length);
    return length;
}

ssize_t readlink(const char *path, char *buffer, size_t size) {
    return proviso_read_link(proviso_path_outcome(path), buffer, size);
}

// An empty path names the open link `folder`.
ssize_t readlinkat(int folder, const char *path, char *buffer, size_t size) {
    return proviso_read_link(proviso_path_outcome_at(path, 0x1000), buffer, size);
}

ssize_t __readlink_chk(const char *path, char *buffer, size_t size, size_t object_size) {
    if (size > object_size)
        __proviso_abort();
    return proviso_read_link(proviso_path_outcome(path), buffer, size);
}

// A path that starts with a slash. If the call fails, the content of the buffer is undefined.
static char *proviso_real_path(const char *path, char *buffer) {
    if (!path) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    if (proviso_path_outcome(path) < 0) {
        if (buffer)
            __proviso_env_memory(buffer, 4096);
        return NULL;
    }
    size_t length = __proviso_env_size();
    __proviso_assume((length > 0) & (length < 4096));
    // A path component that is no link causes an error.
    SET_ERRNO_IF(__proviso_env_bool(), EINVAL);
    if (!buffer)
        buffer = malloc(length + 1);
    if (!buffer)
        return NULL;
    proviso_env_text(buffer, length);
    __proviso_assume(buffer[0] == '/');
    buffer[length] = 0;
    return buffer;
}

char *realpath(const char *path, char *buffer) { return proviso_real_path(path, buffer); }

char *canonicalize_file_name(const char *path) { return proviso_real_path(path, NULL); }

char *__realpath_chk(const char *path, char *buffer, size_t size) {
    if (buffer && size < 4096)
        __proviso_abort();
    return proviso_real_path(path, buffer);
}

// Unique names: the six X before the suffix become letters and digits.
static char *proviso_unique_name(char *name, int behind) {
    size_t length = proviso_strlen(name);
    char *letters = name + length - behind - 6;
    _Bool fits = behind >= 0 && length >= 6 && length - 6 >= (size_t)behind;
    for (int i = 0; fits && i < 6; i++)
        fits = letters[i] == 'X';
    if (!fits) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    for (int i = 0; i < 6; i++) {
        char c = __proviso_env_char();
        __proviso_assume(((c >= 'a') & (c <= 'z')) | ((c >= 'A') & (c <= 'Z')) | ((c >= '0') & (c <= '9')));
        letters[i] = c;
    }
    return name;
}

// The file with this name is new. The name only recurs if the earlier file was deleted.
static void proviso_makes_unique(const char *name, int behind) {
    static char kept[6];
    static int count;
    const char *letters = name + proviso_strlen(name) - behind - 6;
    _Bool same = 1;
    for (int i = 0; i < 6; i++) {
        same &= kept[i] == letters[i];
        kept[i] = letters[i];
    }
    if (count > 1 || (count == 1 && same))
        __proviso_overapproximated("mkstemp and similar functions may create a name again that they created before");
    count += count < 2;
}

// O_RDWR.
static int proviso_unique_file(char *name, int behind, int flags) {
    if (!proviso_unique_name(name, behind))
        return -1;
    int file = proviso_descriptor(flags | 2, 1);
    if (file >= 0)
        proviso_makes_unique(name, behind);
    return file;
}

int mkstemp(char *name) { return proviso_unique_file(name, 0, 0); }
int mkstemp64(char *name) { return proviso_unique_file(name, 0, 0); }
int mkostemp(char *name, int flags) { return proviso_unique_file(name, 0, flags & ~3); }
int mkostemp64(char *name, int flags) { return proviso_unique_file(name, 0, flags & ~3); }
int mkstemps(char *name, int behind) { return proviso_unique_file(name, behind, 0); }
char *mkdtemp(char *name) {
    if (!proviso_unique_name(name, 0) || proviso_outcome() < 0)
        return NULL;
    proviso_makes_unique(name, 0);
    return name;
}

// The name is empty if there is none.
char *mktemp(char *name) {
    if (!proviso_unique_name(name, 0) || proviso_outcome() < 0)
        *name = 0;
    return name;
}

ssize_t pread(int file, void *buffer, size_t size, long from) { return proviso_read_file(file, buffer, size); }
ssize_t pread64(int file, void *buffer, size_t size, long long from) { return proviso_read_file(file, buffer, size); }
ssize_t pwrite(int file, const void *data, size_t size, long to) { return proviso_write_file(file, data, size); }
ssize_t pwrite64(int file, const void *data, size_t size, long long to) { return proviso_write_file(file, data, size); }

ssize_t __pread_chk(int file, void *buffer, size_t size, long from, size_t object_size) {
    if (size > object_size)
        __proviso_abort();
    return proviso_read_file(file, buffer, size);
}

// Several consecutive blocks.
struct proviso_block_of {
    void *start;
    size_t size;
};

static ssize_t proviso_scatter(int file, const struct proviso_block_of *blocks, int count) {
    size_t total = 0;
    for (int i = 0; i < count; i++)
        total += blocks[i].size;
    proviso_waits_for_data(file, total);
    ssize_t n = proviso_transfer(file, total, 0);
    size_t left = n < 0 ? 0 : n;
    for (int i = 0; i < count && left > 0; i++) {
        size_t part = blocks[i].size < left ? blocks[i].size : left;
        __proviso_env_memory(blocks[i].start, part);
        left -= part;
    }
    return n;
}

static ssize_t proviso_gather(int file, const struct proviso_block_of *blocks, int count) {
    size_t total = 0;
    for (int i = 0; i < count; i++) {
        proviso_put_out(blocks[i].start, blocks[i].size);
        total += blocks[i].size;
    }
    ssize_t n = proviso_transfer(file, total, 1);
    proviso_puts_into_pipe(file, n);
    return n;
}

ssize_t readv(int file, const struct proviso_block_of *blocks, int count) {
    ssize_t n = proviso_scatter(file, blocks, count);
    proviso_move_offset(file, n, 0);
    return n;
}

ssize_t writev(int file, const struct proviso_block_of *blocks, int count) {
    ssize_t n = proviso_gather(file, blocks, count);
    proviso_move_offset(file, n, 1);
    return n;
}

ssize_t preadv(int file, const struct proviso_block_of *blocks, int count, long from) {
    return proviso_scatter(file, blocks, count);
}

ssize_t pwritev(int file, const struct proviso_block_of *blocks, int count, long to) {
    return proviso_gather(file, blocks, count);
}

// Copies bytes between files without moving their offsets.
static ssize_t proviso_copy_between(int from, int to, size_t size) {
    proviso_waits_for_data(from, size);
    _Bool impossible = proviso_is_closed(from) | proviso_is_one_way(from, PROVISO_WRITES) | proviso_is_closed(to) |
                       proviso_is_one_way(to, PROVISO_READS);
    ssize_t n = __proviso_env_size();
    __proviso_assume((n == -1) | ((n >= 0) & ((size_t)n <= size) & !impossible));
    __proviso_assume((n <= 0) | !proviso_is_at_end_of_pipe(from));
    SET_ERRNO_IF(n < 0, proviso_env_error());
    proviso_puts_into_pipe(to, n);
    return n;
}

// Advances the offset of the caller, or the offset of the file if the caller has none.
#define MOVE(offset, file, n, writes)                                                                                \
    if (!(offset))                                                                                                   \
        proviso_move_offset(file, n, writes);                                                                        \
    else if (n >= 0)                                                                                                 \
        *(offset) += n;

ssize_t copy_file_range(int from, long long *from_offset, int to, long long *to_offset, size_t size, unsigned flags) {
    ssize_t n = proviso_copy_between(from, to, size);
    MOVE(from_offset, from, n, 0)
    MOVE(to_offset, to, n, 1)
    return n;
}

ssize_t sendfile(int to, int from, long *offset, size_t size) {
    ssize_t n = proviso_copy_between(from, to, size);
    MOVE(offset, from, n, 0)
    proviso_move_offset(to, n, 1);
    return n;
}

ssize_t sendfile64(int to, int from, long long *offset, size_t size) {
    ssize_t n = proviso_copy_between(from, to, size);
    MOVE(offset, from, n, 0)
    proviso_move_offset(to, n, 1);
    return n;
}

// The minimal value of a limit in POSIX. The limit of links is Linux's.
static long proviso_least_of_path(int name) {
    enum { LINK_MAX, MAX_CANON, MAX_INPUT, NAME_MAX, PATH_MAX, PIPE_BUF };
    return (name == LINK_MAX) + (name == MAX_CANON || name == MAX_INPUT) * 255 + (name == NAME_MAX) * 14 +
           (name == PATH_MAX) * 256 + (name == PIPE_BUF) * 512;
}

// -1 without an error means that there is no limit. The name may later refer to another file on another device.
static long proviso_limit(int name) {
    long value = __proviso_env_long();
    __proviso_assume((value == -1) | (value >= proviso_least_of_path(name)));
    return value;
}

long pathconf(const char *path, int name) {
    proviso_strlen(path);
    long value = proviso_limit(name);
    SET_ERRNO_IF(value == -1 && __proviso_env_bool(), proviso_env_error());
    return value;
}

// The limits of an open file do not change.
long fpathconf(int file, int name) {
    static _Bool asked;
    if (asked)
        __proviso_overapproximated("two calls of fpathconf may return different limits of a file");
    asked = 1;
    long value = proviso_limit(name);
    SET_ERRNO_IF(value == -1 && __proviso_env_bool(), proviso_env_error());
    return value;
}

// Terminals. The speeds follow the flags, the line and the characters.

enum { PROVISO_TERMIOS = 60 };
struct proviso_terminal {
    unsigned flags[4];
    unsigned char line, characters[32];
    unsigned input_speed, output_speed;
};

// Other processes may change them at any time.
int tcgetattr(int file, void *terminal) {
    int result = proviso_terminal_outcome(file);
    if (result == 0)
        __proviso_env_memory(terminal, PROVISO_TERMIOS);
    return result;
}

int tcsetattr(int file, int when, const void *terminal) {
    proviso_read(terminal, PROVISO_TERMIOS);
    return proviso_terminal_outcome(file);
}

int tcflush(int file, int which) { return proviso_terminal_outcome(file); }
int tcdrain(int file) { return proviso_terminal_outcome(file); }
int tcsendbreak(int file, int duration) { return proviso_terminal_outcome(file); }
int tcflow(int file, int action) { return proviso_terminal_outcome(file); }
int tcgetpgrp(int file) { return proviso_terminal_outcome(file) < 0 ? -1 : proviso_env_between(0, INT_MAX); }
int tcsetpgrp(int file, int group) { return proviso_terminal_outcome(file); }

// Speeds are numbers of four bits, plus one bit for high speeds. They are also stored in the flags.
static unsigned proviso_speed(const struct proviso_terminal *terminal) { return terminal->flags[2] & 0x100f; }
unsigned cfgetospeed(const struct proviso_terminal *terminal) { return proviso_speed(terminal); }
unsigned cfgetispeed(const struct proviso_terminal *terminal) {
    return terminal->flags[0] & 0x80000000 ? 0 : proviso_speed(terminal);
}

static int proviso_no_speed(unsigned speed) {
    if ((speed & ~0x100fu) == 0)
        return 0;
    SET_ERRNO(EINVAL);
    return 1;
}

int cfsetospeed(struct proviso_terminal *terminal, unsigned speed) {
    if (proviso_no_speed(speed))
        return -1;
    terminal->output_speed = speed;
    terminal->flags[2] = (terminal->flags[2] & ~0x100fu) | speed;
    return 0;
}

int cfsetispeed(struct proviso_terminal *terminal, unsigned speed) {
    if (proviso_no_speed(speed))
        return -1;
    terminal->input_speed = speed;
    if (speed == 0) {
        terminal->flags[0] |= 0x80000000;
    } else {
        terminal->flags[0] &= 0x7fffffff;
        terminal->flags[2] = (terminal->flags[2] & ~0x100fu) | speed;
    }
    return 0;
}

// The size of a terminal, the number of available bytes, and whether reads block.
int ioctl(int file, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    int result = request == 0x5413 ? proviso_terminal_outcome(file) : proviso_outcome_of(file);
    if (request == 0x5421)
        proviso_read(argument, sizeof(int));
    else if (request != 0x5413 && request != 0x541b)
        __proviso_unmodelled("this request of ioctl is not modelled");
    else if (result == 0)
        __proviso_env_memory(argument, request == 0x5413 ? 8 : sizeof(int));
    __proviso_assume(request != 0x541b || result < 0 || *(int *)argument >= 0);
    return result;
}

// Waiting.

// The results are some of the requested descriptors, whose number is the return value, and the remaining time.
int select(int count, unsigned char *reads, unsigned char *writes, unsigned char *others, long *timeout) {
    if (count < 0) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    if (count > 1024)
        __proviso_unmodelled("select for more files than there are is not modelled");
    if (!timeout && !(reads || writes || others))
        proviso_waits_for_signal();
    int result = proviso_env_between(-1, 3 * 1024);
    // It waits for ever.
    __proviso_assume(timeout || result != 0);
    if (timeout) {
        timeout[0] = __proviso_env_long();
        timeout[1] = __proviso_env_long();
        __proviso_assume((timeout[0] >= 0) & (timeout[1] >= 0) & (timeout[1] < 1000000));
    }
    if (result < 0)
        return proviso_failure();
    int ready = 0;
    unsigned char *sets[3] = {reads, writes, others};
    // Whole words are written, for all descriptors that the kernel has allocated, and at least for 64.
    const int word = 8 * sizeof(long);
    if (count > 64) {
        int known = proviso_env_between(1, 16) * 64;
        count = known < count ? known : count;
    }
    int whole = (count + word - 1) / word * word;
    for (int i = 0; i < 3; i++) {
        for (int bit = 0; sets[i] && bit < whole; bit += 8) {
            unsigned char some = bit < count ? sets[i][bit / 8] & __proviso_env_uchar() : 0;
            if (count - bit < 8)
                some &= (1 << (count - bit)) - 1;
            sets[i][bit / 8] = some;
            for (int n = 0; n < 8; n++)
                ready += some >> n & 1;
        }
    }
    __proviso_assume(result == ready);
    return result;
}

struct proviso_poll {
    int file;
    short events, ready;
};

// Waits without a limit if the time is negative. If a signal interrupts it, no descriptor is ready, and the results may be written.
static int proviso_poll_files(struct proviso_poll *files, unsigned long count, int timeout) {
    if (count == 0 && timeout < 0)
        proviso_waits_for_signal();
    int result = proviso_env_between(-1, INT_MAX);
    __proviso_assume(timeout >= 0 || result != 0);
    if (result < 0) {
        _Bool written = __proviso_env_bool();
        for (unsigned long i = 0; written && i < count; i++)
            files[i].ready = 0;
        return proviso_failure();
    }
    int ready = 0;
    for (unsigned long i = 0; i < count; i++) {
        // Errors are reported even if they are not requested.
        short some = __proviso_env_int() & (files[i].events | 0x38);
        files[i].ready = files[i].file < 0 ? 0 : some;
        ready += files[i].ready != 0;
    }
    __proviso_assume(result == ready);
    return result;
}

int poll(struct proviso_poll *files, unsigned long count, int timeout) {
    return proviso_poll_files(files, count, timeout);
}

int __poll_chk(struct proviso_poll *files, unsigned long count, int timeout, size_t object_size) {
    if (object_size / sizeof *files < count)
        __proviso_abort();
    return proviso_poll_files(files, count, timeout);
}
