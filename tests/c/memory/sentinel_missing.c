// run: => FALSE
// Without a null element, the loop leaves the table.
#include <stdio.h>
#include <string.h>

struct entry {
    const char *name;
    int value;
};

static int find(const struct entry *table, const char *name) {
    for (; table->name; table++) // wrong
        if (strcmp(table->name, name) == 0)
            return table->value;
    return -1;
}

int main(int argc, char **argv) {
    const struct entry table[] = {{"one", 1}, {"two", 2}, {"three", 3}, {"four", 4}};
    for (int i = 1; i < argc; i++)
        printf("%d\n", find(table, argv[i]));
    return 0;
}
