// run: --property unreach-call => FALSE(unreach-call)
// native: unseen
// An inline definition of the program has the name of a library function with other parameters.
// A call may use either (C17, 6.7.4p7). Without optimisation, clang calls the library's.
extern void reach_error(void);

__inline void error(void) { reach_error(); } // wrong

int main(void) {
    error();
    return 0;
}
