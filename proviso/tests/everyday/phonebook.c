/* A phone book in a linked list: +NAME NUMBER, -NAME, ?NAME. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    char name[20];
    char number[20];
    struct entry *next;
};

static struct entry **find(struct entry **list, const char *name)
{
    while (*list && strcmp((*list)->name, name) < 0)
        list = &(*list)->next;
    return list;
}

int main(void)
{
    struct entry *list = NULL;
    char line[64], name[20], number[20];
    while (fgets(line, sizeof line, stdin)) {
        int fields = sscanf(line + 1, "%19s %19s", name, number);
        if (fields < 1) {
            puts("no name");
            continue;
        }
        struct entry **at = find(&list, name);
        int found = *at && strcmp((*at)->name, name) == 0;
        if (line[0] == '+') {
            if (fields < 2) {
                puts("no number");
                continue;
            }
            if (!found) {
                struct entry *new = malloc(sizeof *new);
                if (!new)
                    abort();
                strcpy(new->name, name);
                new->next = *at;
                *at = new;
            }
            strcpy((*at)->number, number);
        } else if (line[0] == '-') {
            if (found) {
                struct entry *old = *at;
                *at = old->next;
                free(old);
            } else {
                puts("not there");
            }
        } else if (line[0] == '?') {
            puts(found ? (*at)->number : "unknown");
        } else {
            puts("+ - or ?");
        }
    }
    while (list) {
        struct entry *next = list->next;
        free(list);
        list = next;
    }
    return 0;
}
