// ctype.h: all functions for which the C library has a table, and some others.
#include "harness.h"
#include <ctype.h>

static int character(void) { return (int)random_below(384) - 128; }

#define CLASS(name)                                                                                                  \
    DRIVER(name) { see(LIB(name)(character())); }
CLASS(isupper)
CLASS(islower)
CLASS(isalpha)
CLASS(isdigit)
CLASS(isxdigit)
CLASS(isspace)
CLASS(isprint)
CLASS(isgraph)
CLASS(isblank)
CLASS(iscntrl)
CLASS(ispunct)
CLASS(isalnum)
CLASS(_tolower)
CLASS(_toupper)
// Functions of any integer.
#define ANY(name)                                                                                                    \
    DRIVER(name) { see(LIB(name)(random_below(2) ? character() : (int)random_integer())); }
ANY(isascii)
ANY(toascii)
ANY(tolower)
ANY(toupper)

DRIVER(__ctype_b_loc) { see((*LIB(__ctype_b_loc)())[character()]); }
DRIVER(__ctype_tolower_loc) { see((*LIB(__ctype_tolower_loc)())[character()]); }
DRIVER(__ctype_toupper_loc) { see((*LIB(__ctype_toupper_loc)())[character()]); }
DRIVER(__ctype_get_mb_cur_max) { see(LIB(__ctype_get_mb_cur_max)()); }
