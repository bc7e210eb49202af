#include "handlers_library.c"
