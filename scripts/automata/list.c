/* libbsd: a list of strings. */
#include <stddef.h>
#include <stringlist.h>

extern int __VERIFIER_nondet_int(void);

int main(void) {
    StringList *list = sl_init();
    if (list == NULL)
        return 1;
    if (__VERIFIER_nondet_int())
        sl_add(list, "one");
    sl_add(list, "two");
    sl_delete(list, "one", 0);
    sl_free(list, 0);
    return 0;
}
