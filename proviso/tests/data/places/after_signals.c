// Accesses after signals that the program sends itself, after waits, and after changed names in the environment.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t raised, killed, delivered, waited, unwritten;
static int table[4];
static char entry[] = "FIRST=a long value";

static void on_raised(int number, siginfo_t *info, void *context) { raised = 9; }
static void on_killed(int number) { killed = 9; }
static void on_delivered(int number) { delivered = 9; }
static void on_alarm(int number) { waited = 9; }

int main(void) {
    const char *text = getenv("MODE");
    int mode = text ? text[0] - '0' : 0;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGVTALRM);
    if (mode == 0) {
        struct sigaction action = {.sa_flags = SA_SIGINFO, .sa_sigaction = on_raised};
        sigaction(SIGUSR1, &action, NULL);
        raise(SIGUSR1);
        table[raised] = 1;
    } else if (mode == 1) {
        signal(SIGUSR2, on_killed);
        kill(getpid(), SIGUSR2);
        table[killed] = 1;
    } else if (mode == 2) {
        signal(SIGVTALRM, on_delivered);
        sigprocmask(SIG_BLOCK, &set, NULL);
        raise(SIGVTALRM);
        sigprocmask(SIG_UNBLOCK, &set, NULL);
        table[delivered] = 1;
    } else if (mode == 3) {
        signal(SIGALRM, on_alarm);
        alarm(1);
        pause();
        table[waited] = 1;
    } else if (mode == 4) {
        char copy[8];
        putenv(entry);
        entry[0] = 'B';
        char *value = getenv("BIRST");
        if (value)
            strcpy(copy, value);
    } else {
        char copy[8];
        setenv("A", "B=a long value", 1);
        char *value = getenv("A=B");
        if (value)
            strcpy(copy, value);
    }
    table[unwritten] = 1;
    return 0;
}
