// The pre-analysis proves checks if memory is allocated and freed through pointers with two possible callees according to the points-to
// analysis, if an object is freed unless it points back to its owner, and if a state machine has many states.
// run: --check address => TRUE
// run: --check address -DFREED => FALSE(address)
// run: --check address -DFREED_OTHER => FALSE(address)
// run: --check address -DSTRANGER => FALSE(address)
// run: --check address -DBEYOND => FALSE(address)
#include "../verify.h"
#include <stdlib.h>

struct stream {
    void *get, *put;
    struct state *state;
};
struct state {
    struct stream *owner;
    int cells[80];
};

static void *get(size_t size) {
    void *block = calloc(1, size);
    if (!block)
        abort();
    return block;
}

static void put(void *block) {
    free(block);
}

// According to the points-to analysis, each pointer may have both targets.
static void set(void **slot, void *function) {
    *slot = function;
}

static int belongs(struct stream *stream, struct state *state) {
    return state->owner == stream;
}

#define STATE(n)                                                                                                                 \
    case n:                                                                                                                      \
        state->cells[n] = 1;                                                                                                     \
        mode = n + 1;                                                                                                            \
        break;
#define STATES(n) STATE(n) STATE(n + 1) STATE(n + 2) STATE(n + 3) STATE(n + 4) STATE(n + 5) STATE(n + 6) STATE(n + 7)

int main(void) {
    struct stream stream = {0}, other = {0};
    set(&stream.get, get);
    set(&stream.put, put);
    stream.state = ((void *(*)(size_t))stream.get)(sizeof *stream.state);
    int *scratch = ((void *(*)(size_t))stream.get)(sizeof *scratch);
    struct state *state = stream.state;
    state->owner = &stream;
#ifdef STRANGER
    if (__VERIFIER_nondet_int())
        state->owner = &other;
#endif
    *scratch = 1;
    ((void (*)(void *))stream.put)(scratch);
#ifdef FREED_OTHER
    *scratch = 2; // wrong
#endif
    if (!belongs(&stream, state))
        ((void (*)(void *))stream.put)(state);
    unsigned mode = 0;
    while (mode < 80)
        switch (mode) {
            STATES(0) // wrong
            STATES(8)
            STATES(16)
            STATES(24)
            STATES(32)
            STATES(40)
            STATES(48)
            STATES(56)
            STATES(64)
            STATES(72) // wrong
        }
#ifdef FREED
    ((void (*)(void *))stream.put)(state);
#endif
#ifdef BEYOND
    int last = state->cells[80]; // wrong
#else
    int last = state->cells[79]; // wrong
#endif
    ((void (*)(void *))stream.put)(state);
    return last;
}
