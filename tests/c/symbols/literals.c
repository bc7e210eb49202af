// run: => TRUE
// run: -DSAME => FALSE(unreach-call)
// run: -DDISTINCT => FALSE(unreach-call)
// run: -DNUMBERS => FALSE(unreach-call)
// run: -DBYTES => FALSE(unreach-call)
// run: -DWIDE => FALSE(unreach-call)
// run: -DTABLE => FALSE(unreach-call)
// run: -DCOMPOUND => FALSE(unreach-call)
// run: -DFILES other_literal.inc.c => FALSE(unreach-call)
// run: -DOTHER_FILES other_literal.inc.c => FALSE(unreach-call)
// native: no
// A literal may be the end of another one, and equal literals of two files may be one object (C17, 6.4.5p7). Their content is the same in all cases, and
// so are repeated comparisons; arrays are separate objects.
#include "../verify.h"
#include <stdint.h>
#include <string.h>
#include <wchar.h>

const char *long_text = "say abc", *text = "abc";
const char *const table[] = {"x", "an abcd", "abcd"};
const char *compound = (const char[]){"12345"};
static const char array[] = "abc";
extern const char *other_literal(void);

static int is_same(const char *p, const char *q) { return p == q; }

int main(void) {
    const char *tail = long_text + 4;
    check(strcmp(tail, text) == 0 && strlen(text) == 3);
    check((tail == text) == (tail + 1 == text + 1));
    check(text != array && tail != array && long_text != text);
    check(!is_same(tail, "bc"));
    int i = __VERIFIER_nondet_int();
    __VERIFIER_assume(0 <= i && i < 3);
    check(i == 2 || table[i] != table[1] + 3);
#if defined SAME
    if (tail == text) reach_error(); // wrong
#elif defined DISTINCT
    if (!is_same(tail, text)) reach_error(); // wrong
#elif defined NUMBERS
    if ((uintptr_t)text - (uintptr_t)long_text == 4) reach_error(); // wrong
#elif defined BYTES
    if (memcmp(&tail, &text, sizeof tail) == 0) reach_error(); // wrong
#elif defined WIDE
    if (L"say abc" + 4 == L"abc") reach_error(); // wrong
#elif defined TABLE
    if (table[i] == table[1] + 3) reach_error(); // wrong
#elif defined COMPOUND
    if (compound == "12345") reach_error(); // wrong
#elif defined FILES
    if (other_literal() == text) reach_error(); // wrong
#elif defined OTHER_FILES
    if (other_literal() != text) reach_error(); // wrong
#endif
    return 0;
}
