// The program installs a handler again that `sigaction` or `signal` returned. No call installs `keep`.
#include <signal.h>

static volatile sig_atomic_t go;
static int first, second, kept;
static int table[4];

static void on_alarm(int number) {
    first = number / 2;
    go = 1;
}

static void on_timer(int number) {
    second = number;
    go = 1;
}

static void keep(int number) { kept = number; }

static void (*const actions[])(int) = {keep};

int main(void) {
    int sum = 0;
    struct sigaction action = {0}, former;
    actions[0](2);
    action.sa_handler = on_alarm;
    sigaction(SIGUSR1, &action, 0);
    action.sa_handler = SIG_IGN;
    sigaction(SIGUSR1, &action, &former);
    sigaction(SIGALRM, &former, 0);
    signal(SIGUSR1, on_timer);
    former.sa_handler = signal(SIGUSR1, SIG_IGN);
    sigaction(SIGVTALRM, &former, 0);
    signal(SIGUSR2, SIG_IGN);
    while (!go) {
    }
    sum += table[kept];
    sum += table[first];
    sum += table[second];
    return sum & 1;
}
