// FALSE: a command of full length leaves no room for the terminating zero.
extern char __VERIFIER_nondet_char(void);
extern void reach_error(void);

#define ROOM 4

static char text[ROOM];

static void put(unsigned at, char c) {
    if (at >= ROOM)
        reach_error();
    text[at] = c;
}

int main(void) {
    unsigned length = 0;
    while (length < ROOM) {
        char c = __VERIFIER_nondet_char();
        if (c == '\n')
            break;
        put(length++, c);
    }
    put(length, '\0');
    return 0;
}
