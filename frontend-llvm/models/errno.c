// Defines: __errno_location errno
#pragma once
// Only linked if the program uses `errno`. `PROVISO_ERRNO` is then defined.
#include "proviso.h"

#ifdef PROVISO_ERRNO
int *__errno_location(void) { return &proviso_errno; }

#ifndef PROVISO_THREADS
// Old programs declare it themselves.
extern int errno __attribute__((alias("proviso_errno")));
#endif
#endif
