// A specification with the position of its argument prints any text, of any length, and may write by %n.
#include <stdio.h>

static int table[4];

int main(int argc, char **argv) {
    int counted = 3, kept = 3, sum = 0;
    char narrow[200], wide[8];
    snprintf(wide, sizeof wide, argc > 1 ? "%1$d" : "%2$900d", 1, 2);
    sum += table[kept];
    sum += wide[kept];
    int printed = snprintf(wide, sizeof wide, argc > 1 ? "%1$d" : "%2$900d", 1, 2);
    if (printed >= 0 && printed < 129)
        sum += table[1];
    else if (printed == 900)
        sum += table[printed]; // open
    if (argc > 2)
        sprintf(narrow, "%1$900d", 1); // open
    printf("%d %2$n", 1, &counted);
    sum += table[kept];
    sum += table[counted]; // open
    printf("%1$s", argv[0]);
    return sum & 1;
}
