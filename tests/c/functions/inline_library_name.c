// run: --property unreach-call => FALSE(unreach-call)
// An inline definition of the program has the name of a library function with other parameters.
extern void reach_error(void);

__inline void error(void) { reach_error(); }

int main(void) {
    error();
    return 0;
}
