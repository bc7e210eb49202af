// Structs that are passed in registers, in one or several parts, before pointers and with pointers in them.
// run: --entry before_pointer --property valid-deref => TRUE
// run: --entry before_pointer --property valid-deref --32 => TRUE
// run: --entry behind_pointer --property valid-deref => TRUE
// run: --entry alone => FALSE(unreach-call)
// run: --entry alone --32 => FALSE(unreach-call)
// run: --entry in_array => FALSE(unreach-call)
// run: --entry in_parts => FALSE(unreach-call)
// run: --entry in_parts --32 => FALSE(unreach-call)
// run: --entry all_kinds => FALSE(unreach-call)
// run: --entry all_kinds --32 => FALSE(unreach-call)
// run: --entry result => FALSE(unreach-call)
// run: --entry result --32 => FALSE(unreach-call)
// run: --entry empty => FALSE(unreach-call)
// run: --entry in_union --property valid-deref => UNKNOWN
// run: --entry in_union_of_struct --property valid-deref => UNKNOWN
extern void reach_error(void);

struct numbers {
    int a, b, c;
};

int before_pointer(struct numbers x, const int *y) { return *y > x.a; }

int behind_pointer(int *y, struct numbers x) { return *y > x.a; }

// The pointer in the struct leads to numbers, not to a struct with another pointer.
struct alone {
    int *p;
};

int alone(struct alone x) {
    if (x.p[0] == 123457)
        reach_error(); // wrong
    return 0;
}

struct in_array {
    int *p[1];
};

int in_array(struct in_array x) {
    if (*x.p[0] == 123457)
        reach_error(); // wrong
    return 0;
}

struct buffer {
    int *data;
    long length;
};

int in_parts(struct buffer x) {
    if (x.length == 3 && x.data[0] == 123457)
        reach_error(); // wrong
    return 0;
}

struct point {
    double x, y;
};

struct list {
    int value;
    struct list *next;
};

int all_kinds(_Bool b, struct point p, struct list *list, struct buffer buffer) {
    if (b && p.y == 1.5 && list->next && list->next->value == 9 && buffer.length == 4 && *buffer.data == 2)
        reach_error(); // wrong
    return 0;
}

struct large {
    long a, b, c;
};

struct large result(struct buffer x, struct large l, const int *y) {
    if (*y == 77 && *x.data == 78 && l.c == 5)
        reach_error(); // wrong
    return l;
}

struct empty {};

// An empty struct is no parameter, and the other struct is two.
int empty(struct empty e, const char *s, int *y, struct buffer x) {
    if (s[0] == 'a' && *y == 123457 && x.length == 3)
        reach_error(); // wrong
    return sizeof e;
}

// A pointer in a union may be another value.
union either {
    int *p;
    long n;
};

int in_union(union either x) { return *x.p; }

struct variant {
    union either content;
    long kind;
};

int in_union_of_struct(struct variant x) { return *x.content.p; }

int main(void) { return 0; }
