// run: => TRUE
// run: -DWRONG=strcmp(entry->d_name,"x")==0 => FALSE(unreach-call)
// run: -DWRONG=memory[0]!=0 => TRUE
// run: -DWRONG=rest[0]!='a' => TRUE
// run: --property valid-deref -DUNCHECKED => FALSE(valid-deref)
// Folders have names, a mapping is a zeroed object of whole pages, and parts of paths are computed exactly.
#include <dirent.h>
#include <libgen.h>
#include <string.h>
#include <sys/mman.h>
#include "../verify.h"

#ifndef WRONG
#define WRONG 0
#endif

int main(void) {
    char path[] = "/usr/a.c/", other[] = "/usr/a.c/";
    char *rest = basename(path);
    check(strcmp(rest, "a.c") == 0 && strcmp(dirname(other), "/usr") == 0);
    char *memory = mmap(NULL, 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(memory != MAP_FAILED && memory[4095] == 0 && (unsigned long)memory % 4096 == 0);
    DIR *folder = opendir(".");
#ifndef UNCHECKED
    if (!folder)
        return 1;
#endif
    struct dirent *entry = readdir(folder); // wrong
    if (entry) {
        check(entry->d_name[0] != 0 && entry->d_name[0] != '/');
        check(!(WRONG)); // wrong
    }
    closedir(folder);
    munmap(memory, 10);
    return 0;
}
