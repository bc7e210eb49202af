// Initialisers: zero, constants, addresses, nested.
#include "../verify.h"

struct node { int value; struct node *next; const char *name; };
static struct node last = {3, 0, "last"};
static struct node list[2] = {{1, &list[1], "first"}, {2, &last, "second"}};
static int zero[100];
static const short table[] = {[3] = 30, [1] = 10};
int *alias = &zero[42];
static unsigned long sizes[] = {sizeof(table), sizeof(struct node)};
static char text[] = "text", *middle = &text[2];
static double half = 1.0 / 2;

int main(void) {
    int sum = 0;
    for (struct node *n = list; n; n = n->next)
        sum += n->value;
    check(sum == 6);
    check(list[1].next->name[3] == 't');
    check(table[3] == 30 && table[0] == 0 && sizes[0] == 8);
    check(*alias == 0 && alias - zero == 42);
    check(*middle == 'x' && half == 0.5);
    zero[42] = __VERIFIER_nondet_int();
    check(*alias == zero[42]);
    wrong(*alias != 4242);
    return 0;
}
