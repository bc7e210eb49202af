// A table of the program's objects, for programs that check their own memory accesses, as in the instrumentation of Symbiotic (Slaby,
// Strejcek, Trtik, TACAS 2013; Chalupa et al., Symbiotic 4). Accesses outside these objects are errors, unless external code allocates memory.

// PROVISO_GIVEN objects are allocated dynamically, but need not be freed.
enum { PROVISO_HEAP, PROVISO_GIVEN, PROVISO_STACK, PROVISO_GLOBAL, PROVISO_CONSTANT, PROVISO_STAND_IN, PROVISO_SYSTEM };

struct proviso_object {
    unsigned long start, size;
    // The call depth, for stack objects.
    unsigned long depth;
    unsigned char kind, ended, reached;
    // The allocation family whose functions may free the object; -1 if there is none.
    signed char family;
    struct proviso_object *next;
};

static struct proviso_object *proviso_objects;
static unsigned long proviso_depth;

static void proviso_violation(void) {
    reach_error();
    abort();
}

// The object that `p` points into, including its end and the gap after it.
static struct proviso_object *proviso_find(const void *p) {
    for (struct proviso_object *o = proviso_objects; o; o = o->next) {
        // There is no gap after objects of the system: other ones of the library and of the environment follow.
        if ((unsigned long)p - o->start < o->size + (o->kind == PROVISO_SYSTEM ? 0 : PROVISO_GAP))
            return o;
    }
    return 0;
}

static void proviso_begin(void *start, unsigned long size, int kind) {
    struct proviso_object *o = proviso_find(start);
    // A new object may reuse the memory of a stack object that has ended.
    while (o && o->ended && o->start != (unsigned long)start) {
        o->start = o->size = 0;
        o = proviso_find(start);
    }
    if (!o) {
        o = malloc(sizeof *o);
        if (!o)
            abort();
        o->next = proviso_objects;
        proviso_objects = o;
    }
    o->start = (unsigned long)start;
    o->size = size;
    o->kind = kind;
    o->family = -1;
    o->ended = 0;
    o->depth = proviso_depth;
}

static void proviso_end(void *start) {
    struct proviso_object *o = proviso_find(start);
    if (o && o->kind == PROVISO_STACK && o->start == (unsigned long)start)
        o->ended = 1;
}

// Ends the objects of the current frame.
static void proviso_leave(void) {
    for (struct proviso_object *o = proviso_objects; o; o = o->next) {
        if (o->kind == PROVISO_STACK && o->depth == proviso_depth)
            o->ended = 1;
    }
    proviso_depth--;
}

static void *proviso_allocate(void *start, unsigned long size, int kind, int family) {
    if (start) {
        proviso_begin(start, size, kind);
        proviso_find(start)->family = family;
    }
    return start;
}

// Freed memory is not returned to the allocator, so that no other object reuses it.
static void proviso_free(void *p, int family) {
    struct proviso_object *o = proviso_find(p);
    if (!p)
        return;
    if (!o && PROVISO_FOREIGN)
        return free(p);
    if (!o || o->family != family || o->ended || o->start != (unsigned long)p)
        proviso_violation();
    o->ended = 1;
}

// Checks an access to `size` bytes at an address that was computed from `base`.
static void proviso_access(const void *base, const void *address, unsigned long size, int writes) {
    if (!size)
        return;
    struct proviso_object *o = proviso_find(base);
    if (!o)
        o = proviso_find(address);
    if (!o) {
        if (!PROVISO_FOREIGN || (unsigned long)address < 4096)
            proviso_violation();
        return;
    }
    unsigned long offset = (unsigned long)address - o->start;
    if (o->ended || offset > o->size || o->size - offset < size || (writes && o->kind == PROVISO_CONSTANT))
        proviso_violation();
}

// Checks a call through a pointer: it must not point into an object.
static void proviso_call(const void *p) {
    if ((unsigned long)p < 4096 || proviso_find(p))
        proviso_violation();
}

// The size of an object of the family, or of any family (-1).
static unsigned long proviso_size(const void *p, int family) {
    struct proviso_object *o = proviso_find(p);
    if (!o || o->ended || o->start != (unsigned long)p || (family >= 0 && o->family != family))
        proviso_violation();
    return o->size;
}

static unsigned long proviso_offset(const void *p, int writable) {
    struct proviso_object *o = proviso_find(p);
    if (!o || o->ended || (unsigned long)p - o->start > o->size || (writable && o->kind == PROVISO_CONSTANT))
        return -1UL;
    return o->kind == PROVISO_STAND_IN ? -2UL : (unsigned long)p - o->start;
}

// Adds the arguments of `main` to the table.
static void proviso_arguments(int count, char **arguments) {
    proviso_begin(arguments, (count + 1) * sizeof *arguments, PROVISO_SYSTEM);
    for (int i = 0; i < count; i++) {
        unsigned long length = 0;
        while (arguments[i][length])
            length++;
        // The arguments are adjacent, so they have no gaps.
        struct proviso_object *o = malloc(sizeof *o);
        if (!o)
            abort();
        *o = (struct proviso_object){(unsigned long)arguments[i], length + 1, 0, PROVISO_SYSTEM, 0, 0, -1, proviso_objects};
        proviso_objects = o;
    }
}

// Checks at the end of the program that no heap object is allocated.
static void proviso_alive(void) {
    for (struct proviso_object *o = proviso_objects; o; o = o->next) {
        if (o->kind == PROVISO_HEAP && !o->ended)
            proviso_violation();
    }
}

static void proviso_reach(const void *memory, unsigned long size) {
    for (unsigned long i = 0; i + sizeof(void *) <= size; i += sizeof(void *)) {
        struct proviso_object *o = proviso_find(*(void *const *)((const char *)memory + i));
        if (o && o->kind == PROVISO_HEAP && !o->ended && !o->reached) {
            o->reached = 1;
            proviso_reach((const void *)o->start, o->size);
        }
    }
}

// Checks at the end of `main` that all heap objects are reachable. `proviso_roots` marks objects reachable from global variables.
static void proviso_roots(void);
static void proviso_lost(void) {
    for (struct proviso_object *o = proviso_objects; o; o = o->next) {
        if (o->kind != PROVISO_HEAP && !o->ended)
            proviso_reach((const void *)o->start, o->size);
    }
    proviso_roots();
    for (struct proviso_object *o = proviso_objects; o; o = o->next) {
        if (o->kind == PROVISO_HEAP && !o->ended && !o->reached)
            proviso_violation();
    }
}
