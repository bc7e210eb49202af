/* An inventory in a text file: item;count;price lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX 10

typedef struct {
    char name[16];
    int count;
    double price;
} Item;

static Item items[MAX];
static int n_items;

static int load(const char *path)
{
    char line[80];
    int number = 0;
    FILE *f = fopen(path, "r");
    if (!f) {
        perror(path);
        return -1;
    }
    while (fgets(line, sizeof line, f)) {
        number++;
        if (line[0] == '#' || line[0] == '\n') continue;
        char *name = strtok(line, ";");
        char *count = strtok(NULL, ";");
        char *price = strtok(NULL, ";\n");
        if (!name || !count || !price) {
            fprintf(stderr, "%s:%d: too few fields\n", path, number);
            continue;
        }
        if (n_items == MAX) {
            fprintf(stderr, "%s:%d: too many items\n", path, number);
            break;
        }
        Item *it = &items[n_items++];
        snprintf(it->name, sizeof it->name, "%s", name);
        it->count = atoi(count);
        it->price = strtod(price, NULL);
    }
    fclose(f);
    return 0;
}

static Item *find(const char *name)
{
    for (int i = 0; i < n_items; i++)
        if (!strcmp(items[i].name, name)) return &items[i];
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 2 || load(argv[1]) < 0) return 2;
    if (argc == 2) {
        double total = 0;
        for (int i = 0; i < n_items; i++) total += items[i].count * items[i].price;
        printf("%d items, worth %.2f\n", n_items, total);
        if (total > 1000.0) puts("insure them");
        return 0;
    }
    Item *it = find(argv[2]);
    if (!it) {
        printf("no %s\n", argv[2]);
        return 1;
    }
    if (argc > 3) {
        int take = atoi(argv[3]);
        if (take > it->count) {
            printf("only %d left\n", it->count);
            return 1;
        }
        it->count -= take;
    }
    printf("%s: %d at %.2f\n", it->name, it->count, it->price);
    if (it->count < 5) puts("order more");
    return 0;
}
