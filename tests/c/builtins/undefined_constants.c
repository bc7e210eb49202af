// run: --undefined-functions any-effect => TRUE
// run: --undefined-functions any-effect --property valid-memsafety => TRUE
// run: --undefined-functions any-effect -DVARIABLE => FALSE(unreach-call)
// native: no
// An undefined function changes no constant object, whatever its parameters are: it would have undefined behaviour. A
// pointer to a constant array promises the same about its elements.
#include "../verify.h"

struct entry {
    const char *name;
    int value;
};
typedef const int row[2];
void fill(char *text);
void change(void *object);
void look(row *rows);

static const struct entry table[] = {{"one", 1}, {"two", 2}};

int main(void) {
    char *text = "text", buffer[] = "text";
    fill(text);
    fill("other");
    change((void *)&table[1]);
    check(text[0] == 't' && table[1].value == 2 && table[1].name[0] == 't');

    int rows[1][2] = {{1, 2}};
    look(rows);
    check(rows[0][1] == 2);

    char *either = __VERIFIER_nondet_int() ? text : buffer;
    fill(either);
    check(text[1] == 'e');
#ifdef VARIABLE
    check(buffer[1] == 'e'); // wrong
#endif
    return 0;
}
