// Signal handlers that variables, parameters and tables lead to. Other functions have the same type, and no signal runs them.
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

static const struct {
    int number;
    void (*handler)(int);
} rows[] = {{SIGVTALRM, on_timer}};

static void install(int number, void (*handler)(int)) { signal(number, handler); }

int main(void) {
    int sum = 0;
    void (*handler)(int) = on_alarm;
    actions[0](2);
    install(SIGALRM, handler);
    for (int i = 0; i < 1; i++)
        signal(rows[i].number, rows[i].handler);
    signal(SIGUSR2, SIG_IGN);
    while (!go) {
    }
    sum += table[kept];
    sum += table[first];
    sum += table[second];
    return sum & 1;
}
