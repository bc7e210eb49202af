// Several functions read from the same stream.
#include "../verify.h"
#include <stdio.h>
#include <string.h>

int main(void) {
    char line[6], block[3];
    int n;
    if (scanf("%d", &n) != 1 || n < 1000)
        return 1;
    if (getchar() != '\n' || !fgets(line, sizeof line, stdin))
        return 2;
    check(strlen(line) < 6);
    if (fread(block, 1, 3, stdin) != 3)
        return 3;
    wrong(line[0] != 'a' || line[1] != '\n' || block[0] != '"' || block[2] != '\\' || getchar() != EOF);
    return 0;
}
