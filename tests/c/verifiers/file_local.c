// run: file_local.inc.c => FALSE(unreach-call)
// run: file_local.inc.c --remove-function-body __CPROVER_file_local_file_local_inc_c_s_read -DREPLACE => TRUE
// run: file_local.inc.c --remove-function-body __CPROVER_file_local_file_local_inc_c_s_step => UNKNOWN
// Static functions of another file, called and replaced by the names that goto-cc uses.
#include "../verify.h"

int __CPROVER_file_local_file_local_inc_c_s_step(int by);
int total(void);

#ifdef REPLACE
int __CPROVER_file_local_file_local_inc_c_s_read(void) { return 42; }
#endif

int main(void) {
    int x = __VERIFIER_nondet_int();
    __CPROVER_file_local_file_local_inc_c_s_step(x);
    check(total() == 42); // wrong, without the replacement
    return 0;
}
