// run: => TRUE
// run: -DWRONG=found->mnt_passno==0 => UNKNOWN
// run: -DSIZE=status.stx_size<9 => FALSE(unreach-call)
// run: -DOPTION=5 => FALSE(unreach-call)
// File systems: their status, where they are mounted, and options in the list of a mount.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mntent.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include "../verify.h"

#ifndef WRONG
#define WRONG 1
#endif
#ifndef SIZE
#define SIZE 1
#endif
#ifndef OPTION
#define OPTION 11
#endif

int main(void) {
    struct mntent mount = {"a", "/", "b", "rw,noatime,size=5"};
    check(hasmntopt(&mount, "size") == mount.mnt_opts + OPTION && !hasmntopt(&mount, "atime")); // wrong
    check(minor(makedev(300, 70000)) == 70000);
    struct statx status;
    if (statx(AT_FDCWD, "/", 0, STATX_ALL, &status) == 0)
        check(!S_ISLNK(status.stx_mode) && (long long)status.stx_size >= 0 && SIZE); // wrong
    struct statfs system;
    statfs("/", &system);
    FILE *table = setmntent("/etc/mtab", "r");
    if (!table)
        return 1;
    struct mntent *found = getmntent(table);
    if (found) {
        if (*found->mnt_type)
            check(WRONG);
    }
    endmntent(table);
    return 0;
}
