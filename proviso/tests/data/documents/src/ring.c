// The file of a project that the commands on a build verify.
#include "ring.h"

int next_slot(int slot, int slots) { return slot + 1 < slots ? slot + 1 : 0; }
