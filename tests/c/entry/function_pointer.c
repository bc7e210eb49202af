// A function pointer in an argument points to an undefined function.
// run: --entry call => UNKNOWN
// run: --entry all --timeout 5 => UNKNOWN
// run: --entry call --undefined-functions any-value => FALSE(unreach-call)
// run: --entry call --undefined-functions any-value -DNULLABLE --entry-pointers maybe-null => FALSE(unreach-call)
// run: --entry call --undefined-functions any-value -DHOLDS => TRUE
// run: --entry call --undefined-functions fail => FALSE(unreach-call)
// run: --entry all --undefined-functions any-value => FALSE(unreach-call)
// run: --entry twice --undefined-functions any-value => TRUE
// run: --entry twice --undefined-functions any-effect => FALSE(unreach-call)
// run: --entry same => TRUE
// run: --entry known -DKNOWN => TRUE
// run: --entry known -DKNOWN -DBUG => FALSE(unreach-call)
// run: --entry nowhere --property valid-deref --undefined-functions any-value => FALSE(valid-deref)
// native: no
// With any-effect, a harness does not reproduce the writes of undefined functions.
extern void reach_error(void);
extern int __VERIFIER_nondet_int(void);

struct operations {
    int (*compare)(const int *, const int *);
    int count;
};

static int less(const int *a, const int *b) { return *a < *b; }
static int more(const int *a, const int *b) { return *a > *b; }

// -1 is not a function of the environment.
int nowhere(struct operations *o) {
    o->compare = (int (*)(const int *, const int *))-1;
    return o->compare(&o->count, &o->count); // wrong
}

int call(int (*f)(int), int x) {
#ifdef NULLABLE
    if (!f)
        return 0;
#endif
    int result = f(x); // wrong, if f must not be called
#ifdef HOLDS
    if (result * 2 % 2)
#else
    if (result == 5)
#endif
        reach_error(); // wrong
    return result;
}

int all(struct operations *o, int *a, int *b) {
    for (int i = 0; i < o->count; i++)
        if (less(a, b) + more(a, b) + o->compare(a, b) == 7)
            reach_error(); // wrong
    return 0;
}

struct hook {
    void (*run)(struct hook *, int *);
    int runs;
};

int twice(struct hook *h, int x) {
    int before = x;
    h->runs = 0;
    h->run(h, &x);
    if (h->runs != 0 || x != before)
        reach_error(); // wrong
    return 0;
}

int same(struct hook *h) {
    void (*f)(struct hook *, int *) = h->run;
    if (f != h->run || !f)
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
