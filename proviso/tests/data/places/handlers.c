// Signal handlers change objects between any two operations. The first of them has no prototype.
#include <signal.h>

static volatile sig_atomic_t go;
static int first, second, third, unwritten;
static int table[4];

static void on_alarm() {
    first = 7;
    go = 1;
}

static void on_timer(int number) {
    second = number;
    go = 1;
}

static void on_user(int number) {
    go = number > 0;
}

static void on_raised(int number) { third = number; }

int main(void) {
    int own[4] = {0}, sum = 0;
    signal(SIGALRM, on_alarm);
    signal(SIGVTALRM, on_timer);
    signal(SIGUSR1, on_user);
    signal(SIGUSR2, on_raised);
    while (!go) {
    }
    sum += own[unwritten];
    sum += table[unwritten];
    sum += table[first];
    sum += table[second];
    raise(SIGUSR2);
    sum += table[third];
    return sum & 1;
}
