// run: => TRUE
// run: --32 => TRUE
// run: -DBUG => FALSE(unreach-call)
// `stat` and `open` follow symbolic links, so the result is none. `lstat` does not follow them.
#include "../verify.h"
#include <fcntl.h>
#include <sys/stat.h>

int main(void) {
    struct stat status;
    if (stat("file", &status) == 0)
        check(!S_ISLNK(status.st_mode));
    if (fstatat(AT_FDCWD, "file", &status, 0) == 0)
        check(!S_ISLNK(status.st_mode));
    int file = open("file", O_RDONLY);
    if (file >= 0 && fstat(file, &status) == 0)
        check(!S_ISLNK(status.st_mode));
    if (lstat("file", &status) == 0)
        wrong(!S_ISLNK(status.st_mode)); // wrong
    return 0;
}
