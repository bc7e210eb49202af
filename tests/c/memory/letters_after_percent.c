// run: --check address => TRUE
// run: --check address -DBUG => FALSE(address)
// After a `%`, each of the texts has a letter for which there is a handler. With BUG, one has another letter.
#include <stdio.h>

#ifdef BUG
#define LAST "%x"
#else
#define LAST "%s"
#endif

static const char *const texts[] = {"one is %d and two is %s", "%s, then many other words", "at last " LAST};

static int number(void) { return 1; }
static int string(void) { return 2; }

static int handled(const char *text) {
    int sum = 0;
    for (; *text; text++) {
        if (*text != '%')
            continue;
        text++;
        int (*handler)(void) = *text == 'd' ? number : *text == 's' ? string : NULL;
        sum ^= handler(); // wrong with BUG
    }
    return sum;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *text = argv[i][0] == 'a' ? texts[0] : argv[i][0] == 'b' ? texts[1] : texts[2];
        printf("%d\n", handled(text));
    }
    return 0;
}
