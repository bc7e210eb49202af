// run: => TRUE
// run: --32 => TRUE
// run: -DBUG => FALSE(unreach-call)
// `stat` follows symbolic links, so its result is none. `lstat` does not follow them.
#include "../verify.h"
#include <fcntl.h>
#include <sys/stat.h>

int main(void) {
    struct stat status;
    if (stat("file", &status) == 0)
        check(!S_ISLNK(status.st_mode));
    if (fstatat(AT_FDCWD, "file", &status, 0) == 0)
        check(!S_ISLNK(status.st_mode));
    if (lstat("file", &status) == 0)
        wrong(!S_ISLNK(status.st_mode)); // wrong
    return 0;
}
