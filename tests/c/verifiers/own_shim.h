// A project's own meaning of CBMC's words, included before everything.
#include <stddef.h>
#include <stdint.h>
typedef size_t __CPROVER_size_t;
#define __CPROVER_assert(c, m) ((c) ? (void)0 : reach_error())
#define __CPROVER_r_ok(p, n) ((n) == 0 || (p) != NULL)
#define __CPROVER_POINTER_OBJECT(p) ((uintptr_t)(p))
#define __CPROVER_overflow_plus(a, b) ({ __typeof__((a) + (b)) r_; __builtin_add_overflow(a, b, &r_); })
extern void reach_error(void);
