// run: -DARGUMENT=n => TRUE
// run: --property valid-deref -DARGUMENT=d[n] => TRUE
// run: --property valid-deref -DARGUMENT=d[n+1] => FALSE(valid-deref)
// run: -DBUG => FALSE(unreach-call)
// Messages read their arguments and end the program if they should; there are no translations.
#include <err.h>
#include <errno.h>
#include <error.h>
#include <libintl.h>
#include <string.h>
#include <syslog.h>
#include "../verify.h"

#ifndef ARGUMENT
#define ARGUMENT n
#endif

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    unsigned d[4] = {1, 2, 3, 4};
    __VERIFIER_assume(n < 4);
    warnx(gettext("%u is odd"), ARGUMENT); // wrong
    syslog(LOG_ERR, "%s", ngettext("one", "many", n));
    check(strcmp(ngettext("one", "many", n), n == 1 ? "one" : "many") == 0);
    error(0, ENOENT, "number %u", n);
    check(error_message_count == 1);
    if (n == 3)
        errx(2, "%u", n);
#ifdef BUG
    check(n == 3 || n < 2); // wrong
#else
    check(n < 3);
#endif
    return 0;
}
