// Signal handlers change variables after a check of an argument, a call's result and a load set or refined them.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile sig_atomic_t waits, refined, result, loaded;
static int table[4], constants[2] = {1, 2};

static void on_alarm(int number) {
    if (waits)
        refined = 9;
}

static void on_timer(int number) {
    if (waits)
        result = 9;
}

static void on_user(int number) {
    if (waits)
        loaded = 9;
}

static void on_ready(int number) {}

static void check(int index) {
    if (index < 0 || index > 3)
        exit(0);
}

static int start(void) { return 2; }

int main(void) {
    signal(SIGALRM, on_alarm);
    signal(SIGVTALRM, on_timer);
    signal(SIGUSR1, on_user);
    signal(SIGUSR2, on_ready);
    check(refined);
    result = start();
    loaded = constants[1];
    waits = 1;
    sleep(5);
    table[refined] = 1;
    table[result] = 1;
    table[loaded] = 1;
    return table[constants[0]] & 1;
}
