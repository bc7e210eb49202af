/* A list of things to do, in a file: add TEXT, list, done NUMBER. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_NAME "todo.txt"
#define MOST 10

static char items[MOST][80];
static int count;

static int load(void)
{
    FILE *f = fopen(FILE_NAME, "r");
    if (!f)
        return 1;
    while (count < MOST && fgets(items[count], sizeof items[0], f)) {
        size_t length = strlen(items[count]);
        if (length > 0 && items[count][length - 1] == '\n')
            items[count][length - 1] = '\0';
        count++;
    }
    fclose(f);
    return 0;
}

static int save(void)
{
    FILE *f = fopen(FILE_NAME, "w");
    if (!f) {
        perror(FILE_NAME);
        return 1;
    }
    for (int i = 0; i < count; i++)
        fprintf(f, "%s\n", items[i]);
    return fclose(f) != 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: todo add TEXT | list | done NUMBER\n");
        return 2;
    }
    int is_new = load();
    if (strcmp(argv[1], "list") == 0) {
        if (is_new || count == 0)
            puts("nothing to do");
        for (int i = 0; i < count; i++)
            printf("%d. %s\n", i + 1, items[i]);
        return 0;
    }
    if (argc < 3)
        return 2;
    if (strcmp(argv[1], "add") == 0) {
        if (count == MOST || strlen(argv[2]) >= sizeof items[0]) {
            fprintf(stderr, "no room\n");
            return 1;
        }
        strcpy(items[count++], argv[2]);
        return save();
    }
    if (strcmp(argv[1], "done") == 0) {
        int number = atoi(argv[2]);
        if (number < 1 || number > count) {
            fprintf(stderr, "no item %d\n", number);
            return 1;
        }
        for (int i = number; i < count; i++)
            strcpy(items[i - 1], items[i]);
        count--;
        return save();
    }
    fprintf(stderr, "todo: what is %s?\n", argv[1]);
    return 2;
}
