/* A state machine that reads commands. */
#include <stdio.h>
#include <string.h>

enum state { LOCKED, OPEN, BROKEN, STATES };
enum event { COIN, PUSH, KICK, REPAIR, EVENTS };

static const char *const names[EVENTS] = {"coin", "push", "kick", "repair"};
static const enum state next[STATES][EVENTS] = {
    [LOCKED] = {OPEN, LOCKED, BROKEN, LOCKED},
    [OPEN] = {OPEN, LOCKED, OPEN, OPEN},
    [BROKEN] = {BROKEN, BROKEN, BROKEN, LOCKED},
};

int main(void)
{
    enum state state = LOCKED;
    char line[32];
    int coins = 0, passed = 0, kicks = 0;
    while (fgets(line, sizeof line, stdin)) {
        char *end = strchr(line, '\n');
        if (!end) {
            fputs("line too long\n", stderr);
            return 1;
        }
        *end = '\0';
        int event;
        for (event = 0; event < EVENTS; event++)
            if (strcmp(line, names[event]) == 0)
                break;
        if (event == EVENTS) {
            fprintf(stderr, "unknown: %s\n", line);
            continue;
        }
        if (event == COIN && state != BROKEN)
            coins++;
        if (event == PUSH && state == OPEN)
            passed++;
        if (event == KICK && ++kicks == 3)
            puts("alarm");
        state = next[state][event];
    }
    printf("%d coins, %d passed\n", coins, passed);
    if (passed > coins)
        puts("impossible");
    return state == BROKEN;
}
