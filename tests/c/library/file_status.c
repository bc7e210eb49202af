// A file has one of the existing kinds, or none (an eventfd by its path in /proc), and valid times.
// run: => TRUE
// run: --32 => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: -DBUG --32 => FALSE(unreach-call)
#include "../verify.h"
#include <sys/stat.h>

int main(void) {
    struct stat status;
    if (stat("file", &status) != 0)
        return 1;
    check(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || S_ISLNK(status.st_mode) || S_ISCHR(status.st_mode) ||
          S_ISBLK(status.st_mode) || S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || (status.st_mode & S_IFMT) == 0);
    check(status.st_size >= 0 && status.st_mtim.tv_nsec >= 0 && status.st_mtim.tv_nsec < 1000000000);
    wrong(!S_ISDIR(status.st_mode) || status.st_size != 4096 || status.st_ctim.tv_nsec != 999999999);
    return 0;
}
