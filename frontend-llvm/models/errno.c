// Defines: __errno_location errno
#pragma once
// Whoever links this sees `errno`; `PROVISO_ERRNO` is defined.
#include "proviso.h"

#ifdef PROVISO_ERRNO
int *__errno_location(void) { return &proviso_errno; }

// Old programs declare it themselves.
extern int errno __attribute__((alias("proviso_errno")));
#endif
