#include <stdio.h>
#include <string.h>
#include <errno.h>
int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "config.txt";
    FILE *f = fopen(name, "r");
    if (!f) { perror(name); return 1; }
    char key[32], value[32]; int n = 0, c, comma = 0;
    while ((c = fgetc(f)) != EOF) { if (c == ',') comma++; if (c == '\n') n++; }
    fclose(f);
    if (n == 0) { puts("empty"); return 2; }
    FILE *g = fopen("data.csv", "r");
    if (g) {
        if (fgets(key, sizeof key, g) && strcmp(key, "id,name\n") == 0) puts("header");
        if (fgets(value, sizeof value, g)) puts("row");
        fclose(g);
    }
    if (comma == 3) puts("three");
    return 0;
}
