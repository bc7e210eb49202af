// run: --undefined-functions any-effect => FALSE(unreach-call)
// run: --undefined-functions any-effect -DCONSTANT => TRUE
// native: no
// A struct that is passed in two parts does not shift the types of the parameters after it.
extern void reach_error(void);

struct number {
    long whole;
    double part;
};

extern void use(struct number n, int *p, const char *q);
extern void read(const int *p, const char *q);

int main(void) {
    int x = 1;
#ifdef CONSTANT
    read(&x, "a");
#else
    struct number n = {1, 2};
    use(n, &x, "a");
#endif
    if (x != 1)
        reach_error(); // wrong
    return 0;
}
