// A file that a project includes first replaces the built-in vocabulary.
// run: -include own_shim.h => TRUE
// run: -include own_shim.h -DBUG => FALSE(unreach-call)
extern unsigned __VERIFIER_nondet_uint(void);

int main(void) {
    unsigned x = __VERIFIER_nondet_uint();
    __CPROVER_size_t size = 8;
    int object;
    __CPROVER_assert(__CPROVER_r_ok(&object, size) && __CPROVER_POINTER_OBJECT(&object) == (uintptr_t)&object, "readable");
#ifdef BUG
    __CPROVER_assert(!__CPROVER_overflow_plus(x, 1u), "wrong");
#else
    __CPROVER_assert(__CPROVER_overflow_plus(x, 1u) == (x == -1u), "overflow");
#endif
}
