// unistd.h, fcntl.h, sys/stat.h: results of the operating system.
#include "descriptor.h"
#include <sys/random.h>
#include <sys/stat.h>

DRIVER(read) {
    int file = descriptor();
    size_t size = some_size();
    see(LIB(read)(file, room(size), size));
}
DRIVER(read_chk) {
    extern ssize_t __read_chk(int, void *, size_t, size_t);
    int file = descriptor();
    size_t size = some_size(), object = size + random_below(3) - 1;
    if (object > 64)
        object = 0;
    see(LIB(__read_chk)(file, room(size), size, object));
}
DRIVER(write) {
    int file = descriptor();
    size_t size = some_size();
    see(LIB(write)(file, room(size), size));
}
// Devices without offsets (/dev/null, the first kind) always return 0, which POSIX does not specify, so they are excluded.
DRIVER(lseek) {
    int file = descriptor_of(1 + random_below(KINDS - 1)), whence = random_below(4);
    long offset = random_below(3) ? (long)random_below(90) - 30 : (long)random_integer();
    see(LIB(lseek)(file, offset, whence));
}
DRIVER(lseek64) {
    int file = descriptor_of(1 + random_below(KINDS - 1)), whence = random_below(4);
    see(LIB(lseek64)(file, random_below(3) ? (long)random_below(90) - 30 : random_integer(), whence));
}

#define PATH ONE_OF("/", "", "/dev/null", "/dev/null/x", "/nowhere/at/all", "/proc/self/status", ".", "/dev/full")

DRIVER(open) {
    asks_environment();
    NATIVELY close_all();
    char *path = text_in_room(PATH);
    int flags = ONE_OF(O_RDONLY, O_WRONLY, O_RDWR, O_RDONLY | O_DIRECTORY), file = LIB(open)(path, flags);
    NATIVELY keep(file);
    see(file);
}
DRIVER(open64) {
    asks_environment();
    NATIVELY close_all();
    char *path = text_in_room(PATH);
    int file = LIB(open64)(path, O_RDONLY);
    NATIVELY keep(file);
    see(file);
}
DRIVER(creat) {
    asks_environment();
    NATIVELY close_all();
    char *path = text_in_room(ONE_OF("/dev/null", "", "/nowhere/at/all", "/"));
    int file = LIB(creat)(path, 0600);
    NATIVELY keep(file);
    see(file);
}
DRIVER(close) {
    int file = descriptor();
    see(LIB(close)(file));
    NATIVELY {
        for (unsigned i = 0; i < opened_count; i++)
            opened[i] = opened[i] == file ? -1 : opened[i];
    }
}
DRIVER(fsync) {
    int file = descriptor();
    see(LIB(fsync)(file));
}
DRIVER(unlink) {
    asks_environment();
    see(LIB(unlink)(text_in_room(ONE_OF("/", "", "/nowhere/at/all", "/dev/null/x"))));
}
DRIVER(rmdir) {
    asks_environment();
    see(LIB(rmdir)(text_in_room(ONE_OF("/", "", "/nowhere/at/all", "/dev/null/x", "/dev/null"))));
}
DRIVER(mkdir) {
    asks_environment();
    see(LIB(mkdir)(text_in_room(ONE_OF("/", "", "/nowhere/at/all", "/dev/null/x", "/dev/null")), 0700));
}
DRIVER(access) {
    asks_environment();
    see(LIB(access)(text_in_room(PATH), random_below(9)));
}
DRIVER(chdir) {
    asks_environment();
    see(LIB(chdir)(text_in_room(ONE_OF("", "/nowhere/at/all", "/dev/null", "."))));
}
DRIVER(dup) {
    int file = LIB(dup)(descriptor());
    NATIVELY keep(file);
    see(file);
}
DRIVER(dup2) {
    int file = descriptor(), to = ONE_OF(900, 901, -1, 1 << 30);
    see(to = LIB(dup2)(file, to));
    NATIVELY keep(to);
}
DRIVER(pipe) {
    asks_environment();
    NATIVELY close_all();
    int *ends = room(2 * sizeof(int)), result = LIB(pipe)(ends);
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
DRIVER(socket) {
    asks_environment();
    NATIVELY close_all();
    int file = LIB(socket)(ONE_OF(AF_UNIX, AF_INET, 99), SOCK_STREAM, 0);
    NATIVELY keep(file);
    see(file);
}
DRIVER(recv) {
    int file = descriptor();
    size_t size = some_size();
    see(LIB(recv)(file, room(size), size, MSG_DONTWAIT));
}
DRIVER(recvfrom) {
    int file = descriptor();
    size_t size = some_size();
    unsigned *length = room(sizeof *length);
    *length = some_size();
    void *address = room(*length);
    see(LIB(recvfrom)(file, room(size), size, MSG_DONTWAIT, random_below(3) ? address : NULL, length));
    see(*length);
}
DRIVER(send) {
    int file = descriptor();
    size_t size = some_size();
    char *data = room(size);
    memset(data, 'a', size);
    see(LIB(send)(file, data, size, MSG_DONTWAIT | MSG_NOSIGNAL));
}
DRIVER(getsockname) {
    int file = descriptor();
    unsigned *length = room(sizeof *length);
    *length = some_size();
    see(LIB(getsockname)(file, room(*length), length));
    see(*length);
}
DRIVER(getsockopt) {
    int file = descriptor();
    unsigned *length = room(sizeof *length);
    *length = random_below(5);
    see(LIB(getsockopt)(file, SOL_SOCKET, ONE_OF(SO_TYPE, SO_ERROR, 9999), room(*length), length));
}
DRIVER(setsockopt) {
    int file = descriptor(), *on = room(sizeof *on);
    *on = 1;
    see(LIB(setsockopt)(file, SOL_SOCKET, SO_REUSEADDR, on, sizeof *on));
    see(LIB(listen)(file, 1));
    see(LIB(shutdown)(file, SHUT_RDWR));
}
DRIVER(isatty) {
    int file = descriptor();
    see(LIB(isatty)(file));
}
DRIVER(identities) {
    asks_environment();
    see(LIB(getpid)());
    see(LIB(getppid)());
    see(LIB(getuid)());
    see(LIB(geteuid)());
    see(LIB(getgid)());
    see(LIB(getegid)());
    see(LIB(getpagesize)());
}
DRIVER(sysconf) {
    asks_environment();
    see(LIB(sysconf)(random_below(5) ? (int)random_below(260) : (int)random_integer()));
}
DRIVER(getcwd) {
    asks_environment();
    unsigned size = random_below(3) ? random_below(90) : random_below(3);
    char *path = LIB(getcwd)(room(size), size), whole[200];
    NATIVELY {
        if (size > 0)
            suggest_text(getcwd(whole, sizeof whole));
    }
    see_pointer(path);
}
DRIVER(getcwd_allocated) {
    asks_environment();
    char *path = LIB(getcwd)(NULL, random_below(2) ? 0 : 1 + random_below(90)), whole[200];
    NATIVELY suggest_text(getcwd(whole, sizeof whole));
    see_text(path);
    if (path)
        release(path);
}
DRIVER(gethostname) {
    asks_environment();
    unsigned size = random_below(3) ? random_below(80) : random_below(3);
    int result = LIB(gethostname)(room(size), size);
    char whole[200];
    NATIVELY {
        gethostname(whole, sizeof whole);
        whole[size < 199 && result < 0 ? size : 199] = 0;
        suggest(0);
        suggest(result < 0 ? size : strlen(whole));
        suggest_bytes(whole, strlen(whole));
    }
    see(result);
}
DRIVER(getentropy) {
    asks_environment();
    size_t size = ONE_OF(0, 1, 7, 256, 257, 400);
    see(LIB(getentropy)(room(size), size));
}
DRIVER(getrandom) {
    asks_environment();
    size_t size = some_size();
    see(LIB(getrandom)(room(size), size, ONE_OF(0, 1, 2, 99)));
}
DRIVER(stat) {
    asks_environment();
    char *path = text_in_room(PATH);
    see(LIB(stat)(path, room(sizeof(struct stat))));
}
DRIVER(lstat) {
    asks_environment();
    char *path = text_in_room(PATH);
    see(LIB(lstat)(path, room(sizeof(struct stat))));
}
DRIVER(fstat) {
    int file = descriptor();
    see(LIB(fstat)(file, room(sizeof(struct stat))));
}
DRIVER(stat64) {
    asks_environment();
    char *path = text_in_room(PATH);
    see(LIB(stat64)(path, room(sizeof(struct stat64))));
}
DRIVER(lstat64) {
    asks_environment();
    char *path = text_in_room(PATH);
    see(LIB(lstat64)(path, room(sizeof(struct stat64))));
}
DRIVER(fstat64) {
    int file = descriptor();
    see(LIB(fstat64)(file, room(sizeof(struct stat64))));
}
DRIVER(umask) {
    asks_environment();
    see(LIB(umask)(random_below(01000)));
}
DRIVER(fcntl) {
    int file = descriptor();
    int command = ONE_OF(F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC);
    int result = LIB(fcntl)(file, command, ONE_OF(0, 1, O_NONBLOCK));
    NATIVELY {
        if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
            keep(result);
    }
    see(result);
}
