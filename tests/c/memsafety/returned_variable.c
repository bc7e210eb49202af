// A variable that is returned is not the function's result, although compilers may merge them: its life ends with its block.
// (So does clang natively, and no sanitizer sees it.)
// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DINNER => FALSE(valid-deref)
// native: unseen
#include "../verify.h"

struct cursor {
    unsigned long length;
    char *at;
};

static int is_valid(const struct cursor *c) {
    return c->length == 0 || c->at != 0;
}

static struct cursor first(struct cursor *from, unsigned long length) {
#ifdef INNER
    struct cursor *last = from;
    for (int i = 0; i < 2; i++) {
        struct cursor found = {last->length + i, from->at}; // wrong
        last = &found;
        if (is_valid(&found) && found.length > length)
            return found;
    }
    return *from;
#else
    struct cursor found;
    found.at = from->at;
    found.length = length < from->length ? length : from->length;
    check(is_valid(&found) || !is_valid(from));
    return found;
#endif
}

int main(void) {
    char text[4] = "abc";
    struct cursor all = {__VERIFIER_nondet_uint() % 4, text};
    struct cursor found = first(&all, __VERIFIER_nondet_uint());
    return found.length != 0 && *found.at == 'x';
}
