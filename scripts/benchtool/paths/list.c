/* N operations on a list: put in front, take, reverse, or stop. */
#include <stdlib.h>
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);
#ifndef N
#define N 6
#endif
struct node {
    int id;
    struct node *next;
};

int main(void) {
    struct node *list = 0;
    int length = 0;
    for (int i = 0; i < N; i++) {
        unsigned char what = __VERIFIER_nondet_uchar();
        if (what < 100) {
            struct node *new = malloc(sizeof *new);
            if (!new)
                return 0;
            new->id = i;
            new->next = list;
            list = new;
            length++;
        } else if (what < 150) {
            if (!list)
                return 1;
            struct node *old = list;
            list = old->next;
            free(old);
            length--;
        } else if (what < 250) {
            struct node *back = 0;
            while (list) {
                struct node *next = list->next;
                list->next = back;
                back = list;
                list = next;
            }
            list = back;
        } else
            break;
    }
    for (; list; list = list->next)
        length--;
    if (length != 0)
        reach_error();
    return 0;
}
