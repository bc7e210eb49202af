// Structs by value, vectors and complex numbers: a harness passes them as compilers do.
// run: --entry parts => FALSE(unreach-call)
// run: --entry floats => FALSE(unreach-call)
// run: --entry float_pairs => FALSE(unreach-call)
// run: --entry large => FALSE(unreach-call)
// run: --entry exhausted => FALSE(unreach-call)
// run: --entry unaligned => FALSE(unreach-call)
// run: --entry aligned => FALSE(unreach-call)
// run: --entry long_double => FALSE(unreach-call)
// run: --entry result => FALSE(unreach-call)
// run: --entry complex => FALSE(unreach-call)
// run: --entry vector => FALSE(unreach-call)
// run: --entry narrow => FALSE(unreach-call)
// run: --entry parts --32 => FALSE(unreach-call)
// run: --entry large --32 => FALSE(unreach-call)
// run: --entry result --32 => FALSE(unreach-call)
// run: --entry is_there --entry-pointers maybe-null --check null,address => TRUE
// run: --entry is_alone --entry-pointers aliasing => TRUE
// run: --entry is_alone --entry-array-length 3 => TRUE
extern void reach_error(void);

struct number {
    long whole;
    double part;
};

int parts(struct number n, char c) {
    if (n.whole == 3 && n.part == -3 && c == 'c')
        reach_error(); // wrong
    return 0;
}

struct point {
    double x, y;
};

int floats(struct point p) {
    if (p.x == 1.5 && p.y == -2.5)
        reach_error(); // wrong
    return 0;
}

struct triple {
    float f[3];
};

int float_pairs(struct triple t, float g) {
    if (t.f[0] == 1 && t.f[1] == 2 && t.f[2] == 3 && g == 4)
        reach_error(); // wrong
    return 0;
}

struct large {
    long a, b, c;
};

int large(struct large l, int k) {
    if (l.a == 1 && l.c == 3 && k == -3)
        reach_error(); // wrong
    return 0;
}

// There are eight registers for floating-point numbers; those for other arguments are free.
int exhausted(double a, double b, double c, double d, double e, double f, double g, struct point p, long k) {
    if (a == 1 && g == 7 && p.x == 8 && p.y == 9 && k == 10)
        reach_error(); // wrong
    return 0;
}

struct __attribute__((packed)) unaligned {
    char c;
    long l;
};

int unaligned(int before, struct unaligned u, int after) {
    if (before == 1 && u.c == 2 && u.l == 3 && after == 4)
        reach_error(); // wrong
    return 0;
}

struct aligned {
    _Alignas(32) long l;
    int i;
};

int aligned(struct large before, struct aligned a, struct large after) {
    if (before.c == 1 && a.l == 2 && a.i == 3 && after.a == 4)
        reach_error(); // wrong
    return 0;
}

struct long_double {
    long double l;
};

int long_double(struct large before, struct long_double d, int after) {
    if (before.a == 1 && d.l == 2 && after == 3)
        reach_error(); // wrong
    return 0;
}

struct large result(struct large *l, int k) {
    if (k == 3 && l->b == 4)
        reach_error(); // wrong
    return *l;
}

int complex(_Complex double z, _Complex float y) {
    if (__real__ z == 3 && __imag__ z == 4 && __imag__ y == 5)
        reach_error(); // wrong
    return 0;
}

typedef int vector_of_ints __attribute__((vector_size(16)));

int vector(int before, vector_of_ints v) {
    if (before == 1 && v[0] == 2 && v[3] == 3)
        reach_error(); // wrong
    return 0;
}

int narrow(struct number n, signed char c, unsigned short s, _Bool b) {
    if (n.part == 2 && c == -1 && s == 65535 && b)
        reach_error(); // wrong
    return 0;
}

// A struct passed by value exists, whatever the pointers are.
int is_there(struct large l) { return l.a == l.b; }

int is_alone(struct large l, struct large *p) {
    l.a = 1;
    if (p)
        p->a = 2;
    if (l.a != 1 || sizeof l == 23)
        reach_error();
    return 0;
}
