// run: => TRUE
// run: -DWRONG => FALSE(unreach-call)
//
// The program's definitions have the names of internal functions and variables of the library models.

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int proviso_errno = 3;
static int proviso_strlen(const char *text) { return text[0]; }
int proviso_printf_plain(int number) { return number + 1; }
int proviso_stdin(void) { return 7; }

static int proviso_count(void) {
    static int proviso_end_of_input;
    return ++proviso_end_of_input;
}

int main(void) {
    char line[8];
    errno = EINVAL;
    printf("%zu\n", strlen("word"));
    if (fgets(line, sizeof line, stdin) == NULL)
        line[0] = '\0';
    assert(proviso_errno == 3);
    assert(strlen("word") == 4 && proviso_strlen("a") == 'a');
    assert(proviso_printf_plain(1) == 2 && proviso_stdin() == 7);
    proviso_count();
    assert(proviso_count() == 2);
#ifdef WRONG
    assert(line[0] == '\0'); // wrong
#endif
}
