// Undefined variables have arbitrary initial values, which a harness sets. The size of some is unknown.
// native: no
// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: -DTABLE -DBUG => FALSE(unreach-call)
// run: -DTABLE --check address => UNKNOWN
// run: -DHELD --check address => UNKNOWN
// run: -DLISTED --check address => UNKNOWN
// run: -DTABLE -DBEFORE --check address => FALSE(address)
// run: --check address => TRUE
// run: -DLIBRARY => UNKNOWN
// run: -DLIBRARY -DREAD => TRUE
#include "../verify.h"

extern int level;
extern struct {
    char name[12];
    unsigned long count;
} options;
extern int table[];
// A variable of the C library, which is 0 or 1.
extern int daylight;
#ifdef HELD
int *held = table;
#endif
int *tables[2] = {table};
#ifdef LISTED
int **list = tables;
#endif

int main(void) {
#ifdef LIBRARY
    int zone = daylight;
#ifndef READ
    if (zone > 1)
        reach_error();
#endif
    if (zone != daylight)
        reach_error();
#endif
    int index = __VERIFIER_nondet_int();
#ifdef BEFORE
    table[index < 0 ? -1 : 0] = 3; // wrong
#endif
#ifdef HELD
    return held[2];
#elif defined LISTED
    return list[index != 0] ? list[0][2] : 0;
#endif
#ifdef TABLE
    if (index < 0 || index > 1000)
        return 0;
    int entry = table[index];
#ifdef BUG
    if (entry == 77)
        reach_error(); // wrong
#endif
    table[index] = entry + (entry < 5);
    if (table[index] < entry)
        reach_error();
    return 0;
#else
#ifdef BUG
    if (level == -3 && options.name[7] == 'x' && options.count > 1000)
        reach_error(); // wrong
#endif
    int before = level;
    options.count = 3;
    if (level != before || options.count != 3)
        reach_error();
    return 0;
#endif
}
