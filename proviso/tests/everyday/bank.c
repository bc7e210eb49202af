/* Accounts that commands change: open NAME, pay NAME SUM, take NAME SUM, show. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 3

struct account {
    char name[12];
    long balance;
};

static struct account accounts[MOST];
static int count;

static struct account *find(const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(accounts[i].name, name))
            return &accounts[i];
    return NULL;
}

int main(void)
{
    char line[64], command[16], name[12];
    long sum;
    while (fgets(line, sizeof line, stdin)) {
        int fields = sscanf(line, "%15s %11s %ld", command, name, &sum);
        if (fields <= 0)
            continue;
        if (!strcmp(command, "show")) {
            for (int i = 0; i < count; i++)
                printf("%s %ld\n", accounts[i].name, accounts[i].balance);
        } else if (!strcmp(command, "open") && fields == 2) {
            if (find(name))
                puts("exists");
            else if (count == MOST)
                puts("full");
            else
                strcpy(accounts[count++].name, name);
        } else if ((!strcmp(command, "pay") || !strcmp(command, "take")) && fields == 3) {
            struct account *account = find(name);
            if (!account)
                puts("no such account");
            else if (sum <= 0 || sum > 1000000)
                puts("bad sum");
            else if (command[0] == 'p')
                account->balance += sum;
            else if (account->balance < sum)
                puts("not enough");
            else
                account->balance -= sum;
        } else {
            puts("what?");
        }
    }
    return 0;
}
