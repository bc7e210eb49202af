/* Functions that verifiers define. A parameter or result that is an `int` here may be a `_Bool` in a declaration of the program. */
#define PROVISO_ASSUMES(name, type) \
    __attribute__((weak)) void name(type holds) { \
        if (!holds) \
            exit(0); \
    }
#define PROVISO_ASSERTS(name) \
    __attribute__((weak)) void name(int holds, const char *what) { \
        if (!holds) { \
            fprintf(stderr, "proviso: assertion failed: %s\n", what); \
            abort(); \
        } \
    }
PROVISO_ASSUMES(__VERIFIER_assume, int)
PROVISO_ASSUMES(__CPROVER_assume, int)
PROVISO_ASSUMES(__ESBMC_assume, int)
PROVISO_ASSUMES(klee_assume, unsigned long)
PROVISO_ASSERTS(__CPROVER_assert)
PROVISO_ASSERTS(__CPROVER_precondition)
PROVISO_ASSERTS(__CPROVER_postcondition)
PROVISO_ASSERTS(__ESBMC_assert)

