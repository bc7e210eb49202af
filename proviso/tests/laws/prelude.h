// The headers and helper functions for compiling the laws.
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <iconv.h>
#include <locale.h>
#include <mntent.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <pthread.h>
#include <regex.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/times.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmpx.h>
#include <wchar.h>

extern void reach_error(void);
#define CHECK(claim)                                                                                                 \
    do {                                                                                                             \
        if (!(claim))                                                                                                \
            reach_error();                                                                                           \
    } while (0)

static inline int scan_by_list(const char *format, ...) {
    va_list list;
    va_start(list, format);
    int items = vscanf(format, list);
    va_end(list);
    return items;
}
