// What a pointer to a function leads to that an argument has is not known, and that is said at once.
// run: --entry call --timeout 20 => UNKNOWN(an invalid function pointer is called at function_pointer.c:18:18)
// run: --entry all --timeout 20 => UNKNOWN(an invalid function pointer is called at function_pointer.c:26:39)
// run: --entry known -DKNOWN => TRUE
// run: --entry known -DKNOWN -DBUG => FALSE(unreach-call)
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

struct operations {
    int (*compare)(const int *, const int *);
    int count;
};

static int less(const int *a, const int *b) { return *a < *b; }
static int more(const int *a, const int *b) { return *a > *b; }

int call(int (*f)(int), int x) {
    int result = f(x);
    if (result == 5)
        reach_error();
    return result;
}

int all(struct operations *o, int *a, int *b) {
    for (int i = 0; i < o->count; i++)
        if (less(a, b) + more(a, b) + o->compare(a, b) == 7)
            reach_error();
    return 0;
}

#ifdef KNOWN
int known(int x, int y) {
    int (*table[])(const int *, const int *) = {less, more};
    int result = table[__VERIFIER_nondet_int() & 1](&x, &y);
#ifdef BUG
    if (result && x > y)
#else
    if (result && x == y)
#endif
        reach_error(); // wrong
    return 0;
}
#endif
