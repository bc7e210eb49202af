// Functions that do not return, called in every kind of statement. The program ends in the first call; the criteria after
// it must not be reached in a slice that omits the call.
#include <stdio.h>
#include <stdlib.h>

extern void criterion(int place, long value);

// proviso/tests/slice.rs replaces this number.
#define START "0"

static int calls;

static _Noreturn void fail(const char *text, int code) {
    printf("%s: %d\n", text, code);
    exit(code);
}

static void leave(int code) { exit(code); }

static void leave_later(int code) {
    puts("later");
    leave(code);
}

static _Noreturn int never(int code) { exit(code); }

static int ends(int how) {
    calls++;
    switch (how) {
    case 0:
        fail("case", how);
    case 1: {
        if (calls > 3)
            fail("many", calls);
        else
            fail("few", calls);
    }
    case 2:
        leave_later(how);
        break;
    case 3:
        return never(how);
    case 4:
        (void)(calls ? (never(how), 1) : 2);
        break;
    case 5:
        goto failed;
    default:
        return how;
    }
    return 0;
failed:
    puts("failed");
    fail("goto", how);
}

int main(void) {
    int how = atoi(START);
    criterion(1, ends(9) + how);
    if (how == 3)
        fail("three", 3);
    criterion(2, how);
    ends(how);
    criterion(3, how);
    if (calls > 7)
        leave_later(1);
    criterion(4, calls);
    ends(how + 1);
    criterion(5, how);
    return 0;
}
