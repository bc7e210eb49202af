// run: --check address => TRUE
// run: --check address -DBUG => FALSE(address)
// A loop over a table that ends at a null element stays within it, whatever the arguments are. With BUG, the
// null element is missing.
#include <stdio.h>
#include <string.h>

struct entry {
    const char *name;
    int value;
};

static int find(const struct entry *table, const char *name) {
    for (; table->name; table++) // wrong with BUG
        if (strcmp(table->name, name) == 0)
            return table->value;
    return -1;
}

int main(int argc, char **argv) {
    const struct entry table[] = {{"one", 1}, {"two", 2}, {"three", 3}, {"four", 4},
#ifndef BUG
                                  {NULL, 0}
#endif
    };
    for (int i = 1; i < argc; i++)
        printf("%d\n", find(table, argv[i]));
    return 0;
}
