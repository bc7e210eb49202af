// run: -DWAIT=pause() => TRUE
// run: -DWAIT=select(0,0,0,0,0) => TRUE
// run: -DWAIT=poll(0,0,-1) => TRUE
// run: -DWAIT=read(ends[0],&c,1) => TRUE
// run: -DWAIT=poll(0,0,5) => FALSE(unreach-call)
// run: -DWAIT=read(ends[0],&c,0) => FALSE(unreach-call)
// run: -DBEFORE=write(ends[1],"a",1) -DWAIT=read(ends[0],&c,1) => FALSE(unreach-call)
// run: -DBEFORE=close(ends[1]) -DWAIT=read(ends[0],&c,1) => FALSE(unreach-call)
// run: --property termination -DNO_PIPE -DWAIT=pause() => FALSE(termination)
// run: --property termination -DWAIT=poll(0,0,5) => TRUE
// run: --property termination -DBEFORE=close(ends[1]) -DWAIT=read(ends[0],&c,1) => TRUE
// run: --property termination -DWAIT=flock(0,LOCK_EX) => TRUE
// Calls that wait for something that never happens.
#include "../verify.h"
#include <poll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <unistd.h>

#ifndef BEFORE
#define BEFORE 0
#endif

int main(void) {
    char c;
    int ends[2];
#ifndef NO_PIPE
    if (pipe(ends) != 0)
        return 1;
#endif
    (void)(BEFORE);
    (void)(WAIT); // wrong
    reach_error(); // wrong
    return 0;
}
