// run: --check memory -DCALL=mktime(&date)==5 => FALSE(memory)
// run: --check memory -DCALL=localtime(&moment)!=0 => FALSE(memory)
// run: --check memory -DCALL=localtime_r(&moment,&date)!=0 => FALSE(memory)
// run: --check memory -DCALL=ctime(&moment)!=0 => FALSE(memory)
// run: --check memory -DCALL=sigprocmask(0,&set,0) => FALSE(memory)
// run: --check memory -DSET -DCALL=mktime(&date)==5 => TRUE
// run: --check memory -DSET -DCALL=localtime(&moment)!=0 => TRUE
// run: --check memory -DSET -DCALL=sigprocmask(0,&set,0) => TRUE
// Arguments that the library computes with must be initialised. `mktime` does not read the day of the week.
#include <signal.h>
#include <time.h>

int main(void) {
    time_t moment;
    struct tm date;
    sigset_t set;
#ifdef SET
    moment = 5;
    date.tm_sec = date.tm_min = date.tm_hour = date.tm_mon = date.tm_isdst = 0;
    date.tm_mday = 1;
    date.tm_year = 100;
    sigemptyset(&set);
#endif
    return CALL; // wrong
}
