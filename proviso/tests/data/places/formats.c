// What a format from outside prints is not known. It may read any argument, and may write through it by `%n`.
#include <stdio.h>
#include <stdlib.h>

static int table[4];

int main(void) {
    const char *format = getenv("FORMAT");
    int own[4] = {0}, kept = 3, counted = 3, sum = 0;
    char text[8];
    if (!format)
        return 0;
    int printed = snprintf(text, sizeof text, format, 1, 2);
    sum += table[kept];
    sum += own[kept];
    sum += own[printed & 3];
    sum += table[printed]; // open
    if (printed >= 0)
        sum += table[printed % 4];
    printf(format, &counted, 2);
    sum += table[kept];
    sum += table[counted]; // open
    return sum & 1;
}
