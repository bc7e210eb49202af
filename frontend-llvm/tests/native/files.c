// Files, terminals, waiting, and processes: the other functions of unistd.h and related headers.
#include "descriptor.h"
#include <grp.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>

// Functions that fail because a path does not exist.
static char *nowhere(void) { return text_in_room(ONE_OF("", "/nowhere/at/all", "/dev/null/x")); }
DRIVER(paths) {
    asks_environment();
    char *path = nowhere();
    switch (random_below(16)) {
    case 0:
        see(LIB(chmod)(path, 0600));
        break;
    case 1:
        see(LIB(chown)(path, 1, 1));
        break;
    case 2:
        see(LIB(lchown)(path, 1, 1));
        break;
    case 3:
        see(LIB(link)(path, "/nowhere"));
        break;
    case 4:
        see(LIB(symlink)("x", path));
        break;
    case 5:
        see(LIB(truncate)(path, 1));
        break;
    case 6:
        see(LIB(mkfifo)(path, 0600));
        break;
    case 7:
        see(LIB(openat)(AT_FDCWD, path, O_RDONLY));
        break;
    case 8:
        see(LIB(unlinkat)(AT_FDCWD, path, 0));
        break;
    case 9:
        see(LIB(mkdirat)(AT_FDCWD, path, 0700));
        break;
    case 10:
        see(LIB(renameat)(AT_FDCWD, path, AT_FDCWD, path));
        break;
    case 11:
        see(LIB(faccessat)(AT_FDCWD, path, 0, 0));
        break;
    case 12:
        see(LIB(fstatat)(AT_FDCWD, path, room(sizeof(struct stat)), 0));
        break;
    case 13:
        see(LIB(utimes)(path, NULL));
        break;
    case 14:
        see(LIB(utimensat)(AT_FDCWD, path, (struct timespec[2]){{1, 1}, {2, 2}}, 0));
        break;
    default:
        see(LIB(chroot)(path));
    }
}
DRIVER(open_files) {
    int file = descriptor();
    switch (random_below(10)) {
    case 0:
        see(LIB(fchmod)(file, 0666));
        break;
    case 1:
        see(LIB(ftruncate)(file, random_below(60)));
        break;
    case 2:
        see(LIB(fdatasync)(file));
        break;
    case 3:
        see(LIB(flock)(file, LOCK_SH | LOCK_NB));
        break;
    case 4:
        see(LIB(lockf)(file, F_TEST, 0));
        break;
    case 5:
        see(LIB(posix_fadvise)(file, 0, 0, 0));
        break;
    case 6:
        see(LIB(posix_fallocate)(file, 0, random_below(20)));
        break;
    case 7:
        see(LIB(fpathconf)(file, random_below(24)));
        break;
    case 8:
        see(LIB(futimens)(file, NULL));
        break;
    default:
        see(LIB(dup3)(file, file, 0));
    }
}
DRIVER(pread) {
    int file = descriptor();
    size_t size = some_size();
    see(LIB(pread)(file, room(size), size, random_below(30)));
}
DRIVER(pwrite) {
    int file = descriptor();
    size_t size = some_size();
    see(LIB(pwrite)(file, room(size), size, random_below(30)));
}
DRIVER(readv) {
    int file = descriptor(), count = random_below(4);
    struct iovec blocks[3];
    for (int i = 0; i < 3; i++) {
        size_t size = random_below(20);
        blocks[i] = (struct iovec){room(size), size};
    }
    see(LIB(readv)(file, blocks, count));
}
DRIVER(writev) {
    int file = descriptor();
    struct iovec blocks[2] = {{"abc", 3}, {"d", random_below(2)}};
    see(LIB(writev)(file, blocks, random_below(3)));
}
DRIVER(copy_file_range) {
    int file = descriptor();
    off64_t from = random_below(30), to = random_below(60);
    size_t size = some_size();
    switch (random_below(4)) {
    case 0:
        see(LIB(copy_file_range)(file, &from, file, NULL, size, 0));
        break;
    case 1:
        see(LIB(copy_file_range)(file, NULL, file, &to, size, random_below(2)));
        break;
    default:
        see(LIB(copy_file_range)(file, &from, file, &to, size, 0));
    }
    see(from);
    see(to);
}
DRIVER(sendfile) {
    int file = descriptor();
    off_t from = random_below(30);
    see(LIB(sendfile)(file, file, random_below(3) ? &from : NULL, some_size()));
    see(from);
}
DRIVER(pipe2) {
    asks_environment();
    NATIVELY close_all();
    int *ends = room(2 * sizeof(int)), result = LIB(pipe2)(ends, ONE_OF(0, O_CLOEXEC, 7));
    see(result);
    if (result == 0) {
        see(ends[0]);
        see(ends[1]);
        NATIVELY {
            keep(ends[0]);
            keep(ends[1]);
        }
    }
}
DRIVER(readlink) {
    asks_environment();
    char *path = text_in_room(ONE_OF("/proc/self/cwd", "/proc/self/fd/1", "/dev/null", "", "/nowhere/at/all"));
    size_t size = some_size();
    ssize_t length = LIB(readlink)(path, room(size), size);
    char whole[200];
    NATIVELY {
        if (length > 0) {
            suggest(0);
            suggest(length);
            suggest_bytes(whole, readlink(path, whole, sizeof whole));
        }
    }
    see(length);
}
DRIVER(realpath) {
    asks_environment();
    char *path = text_in_room(ONE_OF("/", "/dev/../dev/null", ".", "", "/nowhere/at/all"));
    char *whole = LIB(realpath)(path, NULL);
    NATIVELY {
        if (whole)
            suggest_text(whole);
    }
    see_text(whole);
    if (whole)
        release(whole);
}
DRIVER(mkstemp) {
    asks_environment();
    NATIVELY close_all();
    char *name = text_in_room(ONE_OF("/nowhere/XXXXXX", "/tmp/proviso-XXXXXX", "XXXXX", "/nowhere/XXXaXXX", ""));
    if (random_below(2)) {
        int file = LIB(mkstemp)(name);
        NATIVELY {
            if (keep(file) >= 0)
                unlink(name);
            if (strlen(name) > 6)
                suggest_bytes(name + strlen(name) - 6, 6);
        }
        see(file);
    } else {
        char *made = LIB(mkdtemp)(name);
        NATIVELY {
            if (made)
                rmdir(made);
            if (strlen(name) > 6)
                suggest_bytes(name + strlen(name) - 6, 6);
            suggest(made ? 0 : -1);
        }
        see_pointer(made);
    }
}
DRIVER(terminals) {
    int file = descriptor();
    struct termios *terminal = room(sizeof *terminal);
    memset(terminal, 0, sizeof *terminal);
    terminal->c_cflag = random_bits();
    terminal->c_iflag = random_bits();
    see(LIB(cfgetospeed)(terminal));
    see(LIB(cfgetispeed)(terminal));
    see(LIB(cfsetospeed)(terminal, ONE_OF(B0, B9600, B115200, 12345, 0x1000, 0x1010)));
    see(LIB(cfsetispeed)(terminal, ONE_OF(B0, B9600, B115200, 12345)));
    see(LIB(tcgetattr)(file, terminal));
    see(LIB(tcflush)(file, TCIFLUSH));
    see(LIB(tcgetpgrp)(file));
}
DRIVER(ioctl) {
    int file = descriptor();
    see(LIB(ioctl)(file, ONE_OF(FIONREAD, FIONBIO, TIOCGWINSZ), memset(room(8), 0, 8)));
}
DRIVER(select) {
    int file = descriptor();
    fd_set *reads = room(sizeof *reads), *writes = room(sizeof *writes);
    FD_ZERO(reads);
    FD_ZERO(writes);
    if (file >= 0 && file < 1000) {
        FD_SET(file, reads);
        FD_SET(file, writes);
    }
    struct timeval none = {0, 0};
    int count = random_below(9) ? file + 1 : -1;
    _Bool no_reads = random_below(4) == 0;
    int result = LIB(select)(count, no_reads ? NULL : reads, writes, NULL, &none);
    NATIVELY {
        suggest(result);
        suggest(none.tv_sec);
        suggest(none.tv_usec);
        if (count > 64) {
            suggest(1);
            count = 64;
        }
        for (int i = no_reads; i < 2 && result >= 0; i++)
            suggest_bytes(i ? writes : reads, (count + 7) / 8);
    }
    see(result);
    see(none.tv_usec);
}
DRIVER(poll) {
    int file = descriptor();
    struct pollfd *files = room(2 * sizeof *files);
    files[0] = (struct pollfd){file, POLLIN, 7};
    files[1] = (struct pollfd){random_below(2) ? file : -1, POLLOUT | POLLIN, 7};
    int count = random_below(3), result = LIB(poll)(files, count, 0);
    NATIVELY {
        suggest(result);
        for (int i = 0; i < count; i++)
            suggest(files[i].revents);
    }
    see(result);
}

// Processes.
DRIVER(exec) {
    asks_environment();
    char *path = nowhere(), *const arguments[] = {"a", NULL};
    switch (random_below(4)) {
    case 0:
        see(LIB(execv)(path, arguments));
        break;
    case 1:
        see(LIB(execve)(path, arguments, arguments));
        break;
    case 2:
        see(LIB(execl)(path, "a", "b", NULL));
        break;
    default:
        see(LIB(execvp)(path, arguments));
    }
}
DRIVER(wait) {
    asks_environment();
    int status = 7;
    see(random_below(2) ? LIB(wait)(&status) : LIB(waitpid)(-1, &status, ONE_OF(0, WNOHANG)));
    see(status);
}
DRIVER(more_identities) {
    asks_environment();
    unsigned real = 7, effective = 7, saved = 7, groups[4] = {0};
    see(LIB(getresuid)(&real, &effective, &saved));
    see(real), see(effective), see(saved);
    see(LIB(getpgrp)());
    see(LIB(getpgid)(ONE_OF(0, -1)));
    see(LIB(getsid)(0));
    see(LIB(gettid)());
    see(LIB(setuid)(real));
    see(LIB(getpriority)(PRIO_PROCESS, 0));
    see(LIB(getgroups)(0, groups) >= 0);
}
DRIVER(resources) {
    asks_environment();
    struct rlimit *limit = room(sizeof *limit);
    see(LIB(getrlimit)(random_below(20), limit));
    struct rlimit64 *limit64 = room(sizeof *limit64);
    see(LIB(getrlimit64)(random_below(20), limit64));
    struct rusage usage;
    memset(&usage, 0, sizeof usage);
    see(LIB(getrusage)(ONE_OF(RUSAGE_SELF, RUSAGE_CHILDREN, 7), &usage));
}
DRIVER(uname) {
    asks_environment();
    see(LIB(uname)(room(sizeof(struct utsname))));
}

DRIVER(devices) {
    dev_t device = random_bits();
    unsigned major = LIB(gnu_dev_major)(device), minor = LIB(gnu_dev_minor)(device);
    see(major), see(minor);
    see(LIB(gnu_dev_makedev)(major, minor));
    see(LIB(gnu_dev_makedev)(random_bits(), random_bits()));
}
DRIVER(file_systems) {
    asks_environment();
    may_approximate();
    struct statx status;
    int result = LIB(statx)(AT_FDCWD, ONE_OF("/", "/dev/null", "/nowhere", "", "/proc/self/exe"), ONE_OF(0, AT_SYMLINK_NOFOLLOW), STATX_ALL, &status);
    NATIVELY {
        suggest_nothing();
        suggest(result);
        if (result < 0)
            suggest(errno_before);
        suggest_bytes(&status, sizeof status);
    }
    see(result);
    if (result == 0) {
        see(status.stx_mode);
        see(status.stx_size);
        see(status.stx_btime.tv_nsec);
    }
    struct statvfs system;
    int second = LIB(statvfs)(ONE_OF("/", "/nowhere"), &system);
    NATIVELY {
        suggest_nothing();
        suggest(second);
        if (second < 0)
            suggest(errno_before);
        suggest_bytes(&system, sizeof system);
    }
    see(second);
    if (second == 0)
        see(system.f_namemax);
}
