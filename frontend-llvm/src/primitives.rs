//! Primitives: functions that the lowering implements, and the interface between the lowering and the C models in
//! `models/`.
//!
//! A function is a primitive only if the linked module *declares* it. A body in the user's code or in a model takes
//! precedence. A function that is neither defined, nor modelled, nor a primitive is undefined.
//!
//! # For models
//!
//! A model is an ordinary C function. It may call other library functions, which must also be modelled or primitives. It
//! may also call these primitives:
//!
//! ```c
//! // Allocate memory of a family (`cfa::Family`, by its name). Sizes are in bytes, at most PTRDIFF_MAX. New memory has
//! // arbitrary content unless zeroed, and the alignment of malloc. If an allocation fails, they return null and set
//! // ENOMEM.
//! void *__proviso_alloc_<family>(size_t size);
//! void *__proviso_alloc_zeroed(size_t size);                 // family of malloc
//! void *__proviso_alloc_aligned(size_t align, size_t size);  // family of malloc; `align` is a power of two
//! void *__proviso_alloc_mapping(size_t size);                // zeroed, at the start of a page
//! // The same, but they never fail. Each use must say why.
//! void *__proviso_make_<family>(size_t size);
//! void *__proviso_make_zeroed(size_t size);
//! void *__proviso_make_text(size_t size);                    // family `internal`; content from the environment
//! // Deallocates an object of the family. Null has no effect. Any other pointer is a violation.
//! void  __proviso_free_<family>(void *ptr);
//! // Memory for the model itself, if the real library allocates none or does not depend on it. Never fails.
//! void *__proviso_scratch(size_t size);
//! void  __proviso_drop(void *ptr);
//! size_t __proviso_object_size(void *ptr);                   // size of the live object that starts there
//! size_t __proviso_malloc_size(void *ptr);                   // the same; must be an object of malloc
//! // The offset in the live object that contains `ptr` or ends at it. SIZE_MAX if there is none.
//! size_t __proviso_object_offset(void *ptr);
//!
//! // True if an allocation fails although there is memory. Always 0 unless failing allocations are enabled. For
//! // allocations that no primitive makes.
//! _Bool __proviso_allocation_fails(void);
//!
//! // An unconstrained value of the environment, of any return type that the model declares. The name after
//! // `__proviso_env_` is arbitrary, so declare one for each type: `int __proviso_env_int(void);`,
//! // `double __proviso_env_double(void);`. The input has the name of the *model* that calls the function.
//! T __proviso_env_<anything>(void);
//! // Sets the bytes [ptr, ptr+size) to unconstrained bytes of the environment.
//! void __proviso_env_memory(void *ptr, size_t size);
//!
//! // Taints. The argument is a string literal that completes "…: not modelled", e.g. "sin", or a sentence for the user.
//! // The reported source position is that of the model's caller.
//! void __proviso_unmodelled(const char *what);        // behaviours are added and removed: no verdict holds after it
//! void __proviso_overapproximated(const char *what);  // behaviours are added: later violations may be spurious
//! void __proviso_underapproximated(const char *what); // behaviours are removed: there is no proof
//! // A taint for a format that is not modelled, like __proviso_unmodelled. If all formats of the program are known and
//! // modelled, the path does not exist.
//! void __proviso_unknown_format(const char *what);
//! // A taint for a handler of a signal that may run at any time later. The reason has the name of the model.
//! void __proviso_handler(int signal, void *handler);
//! // True if the program may print with a format that stores the number of printed bytes (`%n`).
//! _Bool __proviso_counts(void);
//! // The environment learns an address. Models must say so where the environment may return an address that they do not
//! // read byte by byte or copy to scratch memory.
//! void __proviso_expose(const void *address);
//!
//! // The number of the program's rounding mode on x86 (0 to nearest, 1 down, 2 up, 3 towards zero). In models, only
//! // constrained operations (`STDC FENV_ACCESS`) use it. All others round to nearest.
//! unsigned __proviso_rounding(void);
//! void __proviso_set_rounding(unsigned mode);         // less than 4
//!
//! // A requirement of C on arguments. If the check is enabled and the condition is false, it is an error of the caller.
//! // `otherwise` is a sentence for the user. Models check arguments only if `PROVISO_ARGUMENTS` is defined.
//! void __proviso_require(int condition, const char *otherwise);
//! // The byte must be initialised. Models check this only if `PROVISO_INITIALISED` is defined.
//! void __proviso_use(char byte);
//!
//! // Threads (`cfa::threads::ThreadOp`): only in models for programs that start threads.
//! void  __proviso_thread_start(void *(*start)(void *), void *argument);
//! void  __proviso_thread_end(void);
//! void *__proviso_thread_this(void);          // the argument that the thread was started with; null in the first
//! void  __proviso_atomic_begin(unsigned kind);
//! void  __proviso_atomic_finish(void);
//! void  __proviso_atomic_when(const int *word, unsigned relation, int value, const int *interrupt);
//! void  __proviso_acquire(const void *address, unsigned exclusive);
//! void  __proviso_release(const void *address);
//! void  __proviso_access_lock(const void *address, unsigned writes);
//! void  __proviso_fence(unsigned order);
//!
//! // Paths.
//! void __proviso_assume(int condition);       // the path does not exist unless the condition is true
//! // Like the above, but slices may omit it. For conditions on the content of memory, which slices would otherwise
//! // contain with everything that the content depends on.
//! void __proviso_assume_optionally(int condition);
//! void __proviso_exit(int status);            // ends the program without exit handlers
//! void __proviso_abort(void);
//! ```
//!
//! If the module defines `void __proviso_at_exit(int status)`, as a model of `atexit` may, it runs before the program
//! ends by `exit` or the end of `main`. `void __proviso_at_quick_exit(void)` runs before it ends by `quick_exit`.
//!
//! A model `F.void` replaces `F` in direct calls whose result is unused. It need not compute or over-approximate the
//! result. See `models::ignoring_result`. The lowering redirects such calls.

use cfa::Family;
use cfa::threads::ThreadOp;

/// Declarations that other verifiers predefine. They are included before the user's C code.
pub(crate) const VOCABULARY: &str = include_str!("../models/vocabulary.h");

/// The suffix of the symbol of a model that only other models call, because the program's function with this name has
/// no model.
pub(crate) const OWN: &str = ".own";

/// The suffix of the symbol of the program's function or variable that has the name of an internal symbol of the models.
pub(crate) const OF_PROGRAM: &str = ".program";

/// The prefix of internal symbols of the models.
pub(crate) const INTERNAL: &str = "proviso_";

/// The meaning of a call of a function that is declared but not defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Primitive {
    /// An unconstrained input of the program: `__VERIFIER_nondet_T`, or `nondet_T` as in CBMC and ESBMC.
    Nondet,
    /// Unconstrained bytes: `__VERIFIER_nondet_memory(ptr, size)`.
    NondetMemory,
    /// The path exists only if the argument is not zero.
    Assume,
    /// Like `Assume`, but slices may omit it.
    AssumeOptionally,
    /// An assertion of CBMC or ESBMC: it fails if the argument is zero.
    Assert,
    /// A requirement on the arguments of a library function: the condition, and a message for its violation.
    Require,
    /// The argument must be initialised.
    Use,
    /// `exit(status)`, with exit handlers.
    Exit,
    /// Ends the program with a status, without handlers.
    ExitNow,
    /// Ends the program after the handlers of `at_quick_exit`.
    QuickExit,
    Abort,
    /// No effect on a sequential program.
    Nothing,
    /// `malloc(size)`. It fails if the size exceeds the range of pointer differences.
    Malloc,
    /// True if an allocation fails that may fail.
    AllocationFails,
    /// `f(size)`: new memory of a family.
    Alloc {
        family: Family,
        may_fail: bool,
    },
    /// `f(size)`: new memory of the family of `malloc`, all zero.
    AllocZeroed {
        may_fail: bool,
    },
    /// `f(alignment, size)`: new memory of the family of `malloc`.
    AlignedAlloc,
    Free(Family),
    /// The size of an object. If a family is given, the object must have it.
    ObjectSize(Option<Family>),
    ObjectOffset,
    /// An unconstrained value that a model takes from the environment.
    Environment,
    /// Unconstrained bytes that a model takes from the environment.
    EnvironmentMemory,
    /// The number of the rounding mode.
    Rounding,
    SetRounding,
    /// A taint: the handler of a signal may run at any time from here on.
    InstallHandler,
    /// A taint.
    Approximate {
        over: bool,
        under: bool,
    },
    /// True if the program may print with a format that stores the number of printed bytes (`%n`).
    Counts,
    /// The environment learns an address.
    Expose,
    /// A taint, unless all formats of the program are known.
    UnknownFormat,
    /// An operation of threads.
    Thread(ThreadOp),
    /// Threads, non-local jumps, signals: the function changes control flow in a way that is not modelled.
    Unmodelled(&'static str),
}

/// The name of [`Primitive::UnknownFormat`].
pub(crate) const UNKNOWN_FORMAT: &str = "__proviso_unknown_format";

/// The primitive that allocates or frees memory of a family. `name` follows `__proviso_`.
fn of_family(name: &str) -> Option<Primitive> {
    let (what, family) = name.split_once('_')?;
    let family = Family::by_name(family).filter(|&family| family != Family::Scope)?;
    Some(match what {
        "alloc" => Primitive::Alloc { family, may_fail: true },
        "make" => Primitive::Alloc { family, may_fail: false },
        "free" => Primitive::Free(family),
        _ => return None,
    })
}

/// The primitive with this name.
pub(crate) fn primitive(name: &str) -> Option<Primitive> {
    use Primitive::*;
    if name == "__VERIFIER_nondet_memory" {
        return Some(NondetMemory);
    }
    if name.starts_with("__VERIFIER_nondet_") || name.starts_with("nondet_") {
        return Some(Nondet);
    }
    if let Some(op) = ThreadOp::by_name(name) {
        return Some(Thread(op));
    }
    if let Some(name) = name.strip_prefix("__proviso_") {
        return Some(match name {
            "alloc_zeroed" => AllocZeroed { may_fail: true },
            "make_zeroed" => AllocZeroed { may_fail: false },
            "make_text" => Alloc { family: Family::Internal, may_fail: false },
            "allocation_fails" => AllocationFails,
            "alloc_aligned" => AlignedAlloc,
            "scratch" => Alloc { family: Family::Internal, may_fail: false },
            "drop" => Free(Family::Internal),
            "object_size" => ObjectSize(None),
            "malloc_size" => ObjectSize(Some(Family::Malloc)),
            "object_offset" => ObjectOffset,
            "env_memory" => EnvironmentMemory,
            "unmodelled" => Approximate { over: true, under: true },
            "overapproximated" => Approximate { over: true, under: false },
            "underapproximated" => Approximate { over: false, under: true },
            "unknown_format" => UnknownFormat,
            "handler" => InstallHandler,
            "counts" => Counts,
            "expose" => Expose,
            "rounding" => Rounding,
            "set_rounding" => SetRounding,
            "assume" => Assume,
            "assume_optionally" => AssumeOptionally,
            "require" => Require,
            "use" => Use,
            "exit" => ExitNow,
            "abort" => Abort,
            _ if name.starts_with("env_") => Environment,
            _ => return of_family(name),
        });
    }
    Some(match name {
        "__VERIFIER_assume" | "__CPROVER_assume" | "__ESBMC_assume" | "klee_assume" => Assume,
        "__CPROVER_assert" | "__CPROVER_precondition" | "__CPROVER_postcondition" | "__ESBMC_assert" => Assert,
        "__VERIFIER_atomic_begin"
        | "__VERIFIER_atomic_end"
        | "__CPROVER_atomic_begin"
        | "__CPROVER_atomic_end"
        | "__ESBMC_atomic_begin"
        | "__ESBMC_atomic_end"
        | "__CPROVER_fence"
        | "__CPROVER_cover"
        | "__CPROVER_input"
        | "__CPROVER_output"
        | "__CPROVER_printf" => Nothing,
        "abort" => Abort,
        "exit" => Exit,
        "_exit" | "_Exit" => ExitNow,
        "quick_exit" => QuickExit,
        "malloc" => Malloc,
        "free" | "cfree" => Free(Family::Malloc),
        "pthread_create" | "thrd_create" | "vfork" | "clone" => Unmodelled("threads and processes"),
        "setjmp" | "_setjmp" | "__sigsetjmp" | "sigsetjmp" | "longjmp" | "_longjmp" | "siglongjmp"
        | "__longjmp_chk" => Unmodelled(cfa::JUMPS),
        "setitimer" | "alarm" => Unmodelled(cfa::HANDLERS),
        _ => return None,
    })
}

/// The prefix of CBMC's uninterpreted functions: their results are arbitrary, but equal for equal arguments.
pub(crate) const UNINTERPRETED: &str = "__CPROVER_uninterpreted_";

/// True for functions that end the program if it does not define them: a failed assertion, and the error functions of
/// verification tasks. They have bodies, so that a property can refer to their calls.
pub(crate) fn aborts(name: &str) -> bool {
    matches!(name, "__assert_fail" | "reach_error" | "__VERIFIER_error")
}

/// Functions that a failed assertion calls in various C libraries, besides `__assert_fail`. They have three or more
/// parameters: the expression, the file, the line and the function, in some order. `__assert_perror_fail` has the error
/// number in place of the expression.
pub(crate) fn fails_assertion(name: &str) -> bool {
    matches!(name, "__assert_perror_fail" | "__assert" | "__assert_rtn" | "__assert_func" | "_assert")
}

/// True for functions of C libraries that failed assertions call. A program without assertions does not name them.
pub fn is_of_assertions(name: &str) -> bool {
    name == "__assert_fail" || fails_assertion(name)
}

/// True if a call of an undefined function with this name has a known meaning.
pub fn is_known(name: &str) -> bool {
    primitive(name).is_some()
        || aborts(name)
        || fails_assertion(name)
        || name.starts_with(UNINTERPRETED)
        || name.starts_with("llvm.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(primitive("__VERIFIER_nondet_int"), Some(Primitive::Nondet));
        assert_eq!(primitive("nondet_uint"), Some(Primitive::Nondet));
        assert_eq!(primitive("nondet_answer"), Some(Primitive::Nondet));
        assert_eq!(primitive("__VERIFIER_nondet_memory"), Some(Primitive::NondetMemory));
        assert_eq!(primitive("__proviso_env_int"), Some(Primitive::Environment));
        assert_eq!(primitive("__proviso_env_memory"), Some(Primitive::EnvironmentMemory));
        assert_eq!(primitive("strlen"), None);
        for family in Family::all().filter(|&family| family != Family::Scope) {
            let name = |what: &str| format!("__proviso_{what}_{}", family.name());
            assert_eq!(primitive(&name("alloc")), Some(Primitive::Alloc { family, may_fail: true }));
            assert_eq!(primitive(&name("make")), Some(Primitive::Alloc { family, may_fail: false }));
            assert_eq!(primitive(&name("free")), Some(Primitive::Free(family)));
        }
        assert_eq!(primitive("__proviso_alloc_nothing"), None);
        assert!(aborts("reach_error") && !aborts("abort"));
    }
}
