// run: -DPART=1 => TRUE
// run: -DPART=1 -DWRONG=write(file,"a",1)==1 => TRUE
// run: -DPART=2 => TRUE
// run: -DPART=2 -DWRONG=dprintf(file,"a")==-1 => TRUE
// run: -DPART=2 -DWRONG=write(file,"a",1)==1 => FALSE(unreach-call)
// run: -DPART=3 => TRUE
// run: -DPART=4 => TRUE
// Descriptors that can only be read or written, and operations on descriptors and paths that always succeed or fail.
#include "../verify.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef WRONG
#define WRONG 0
#endif

int main(void) {
    char c = 0;
    int ends[2], file = 1;
#if PART == 1
    file = open("a", O_RDONLY);
    if (file < 0)
        return 1;
    errno = 0;
    check(write(file, "a", 1) == -1 && errno == EBADF && dprintf(file, "%d", 1) == -1);
    check(!fdopen(file, "w") && errno == EINVAL && dup2(file, file) == file);
#elif PART == 2
    check(dprintf(-1, "a") == -1 && dprintf(1, "abc") == 3 && dup2(1, 1) == 1 && sysconf(99999) == -1);
    file = open("c", O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0)
        return 1;
    check(read(file, &c, 1) == -1);
    check(write(file, "abc", 3) != 3 || lseek(file, 0, SEEK_CUR) == 3);
#elif PART == 3
    if (pipe(ends) != 0)
        return 1;
    check(write(ends[0], "a", 1) == -1 && read(ends[1], &c, 1) == -1);
    close(ends[1]);
    check(read(ends[0], &c, 1) <= 0);
#else
    struct stat status;
    errno = 0;
    check(open("", O_RDONLY) == -1 && errno == ENOENT && stat("", &status) == -1 && !opendir(""));
    check(rename("", "a") == -1 && access("", 0) == -1 && chdir("") == -1 && mkdir("", 0700) == -1 && !getcwd(&c, 0));
    FILE *temporary = tmpfile();
    check(!temporary || ftell(temporary) == 0);
#endif
    check(!(WRONG)); // wrong
    return 0;
}
