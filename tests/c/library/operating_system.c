// run: => TRUE
// run: -DWRONG=st.st_size==0 => FALSE(unreach-call)
// run: -DWRONG=pages!=4096 => TRUE
// run: -DWRONG=files==-1 => FALSE(unreach-call)
// run: -DWRONG=files==8192 => FALSE(unreach-call)
// run: -DWRONG=ends[0]==7&&ends[1]==9 => FALSE(unreach-call)
// Results of the operating system have bounds: sizes of files, ends of pipes, results of `sysconf`.
#include "../verify.h"
#include <sys/stat.h>
#include <unistd.h>

#ifndef WRONG
#define WRONG 0
#endif

int main(void) {
    struct stat st;
    if (stat("file", &st) != 0)
        return 1;
    check(st.st_size >= 0);
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    check(ends[0] >= 0 && ends[1] >= 0 && ends[0] != ends[1]);
    long pages = sysconf(_SC_PAGESIZE), processors = sysconf(_SC_NPROCESSORS_ONLN);
    check(pages == -1 || pages > 0);
    check(processors == -1 || processors > 0);
    long files = sysconf(_SC_OPEN_MAX);
    check(files >= -1 && files == sysconf(_SC_OPEN_MAX));
    check(!(WRONG)); // wrong
    return 0;
}
