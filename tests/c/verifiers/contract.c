// run: --entry given => TRUE
// run: --entry more --check address => FALSE(address)
// run: --entry other => FALSE(unreach-call)
// run: --entry inside => FALSE(unreach-call)
// native: declares
// The precondition of a function is stated in a function that calls it.
#include <stddef.h>

extern void __CPROVER_assume(_Bool);
extern void __CPROVER_assert(_Bool, const char *);
extern _Bool __CPROVER_r_ok(const void *, size_t);
extern _Bool __CPROVER_w_ok(const void *, size_t);
extern _Bool __CPROVER_same_object(const void *, const void *);
extern size_t __CPROVER_OBJECT_SIZE(const void *);
extern ptrdiff_t __CPROVER_POINTER_OFFSET(const void *);

// Runs of equal bytes as pairs of a byte and its count.
static size_t pack(unsigned char *out, const unsigned char *in, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len;) {
        unsigned char byte = in[i], count = 0;
        while (i < len && in[i] == byte && count < 255) {
            i++;
            count++;
        }
        out[n++] = byte;
        out[n++] = count; // wrong if there is less room
    }
    return n;
}

void given(unsigned char *out, const unsigned char *in, size_t len) {
    __CPROVER_assume(len <= 4);
    __CPROVER_assume(__CPROVER_r_ok(in, len));
    __CPROVER_assume(__CPROVER_w_ok(out, 2 * len));
    size_t n = pack(out, in, len);
    __CPROVER_assert(n <= 2 * len, "at most twice as long");
}

void more(unsigned char *out, const unsigned char *in, size_t len) {
    __CPROVER_assume(len <= 4 && len > 0);
    __CPROVER_assume(__CPROVER_r_ok(in, len));
    __CPROVER_assume(__CPROVER_w_ok(out, 2 * len - 1));
    pack(out, in, len);
}

void other(unsigned char *out, const unsigned char *in, size_t len) {
    __CPROVER_assume(len <= 4);
    __CPROVER_assume(__CPROVER_r_ok(in, len));
    __CPROVER_assume(__CPROVER_w_ok(out, 2 * len));
    size_t n = pack(out, in, len);
    __CPROVER_assert(n <= len, "as long as before"); // wrong
}

void inside(char *p, size_t k) {
    size_t size = __CPROVER_OBJECT_SIZE(p);
    __CPROVER_assume(size > 2 && size < 100 && k < size);
    char *q = p + k;
    __CPROVER_assume(__CPROVER_same_object(p, q));
    __CPROVER_assert(__CPROVER_POINTER_OFFSET(q) == (ptrdiff_t)k, "so far");
    __CPROVER_assert(__CPROVER_r_ok(q, 2), "two of them"); // wrong
}
