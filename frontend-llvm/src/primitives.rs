//! Functions the lowering knows by name, and the contract between it and the C models in `models/`.
//!
//! A name is a primitive only where the linked module *declares* it: a body in the user's code wins, and so
//! does a body in a model. What is neither defined, modelled nor a primitive is an undefined function.
//!
//! # For models
//!
//! A model is an ordinary C function. It may call other library functions (which are then modelled or
//! primitive in turn) and these primitives:
//!
//! ```c
//! // Memory of a family (`cfa::Family`, by its name). Sizes in bytes, at most PTRDIFF_MAX. Fresh memory is of unknown content
//! // unless zeroed, and aligned as that of malloc. Null, with ENOMEM, where allocation may fail and does.
//! void *__proviso_alloc_<family>(size_t size);
//! void *__proviso_alloc_zeroed(size_t size);                 // of malloc
//! void *__proviso_alloc_aligned(size_t align, size_t size);  // of malloc; `align` a power of two
//! void *__proviso_alloc_mapping(size_t size);                // zeroed, at the start of a page
//! // The same, but it never fails: each use says why.
//! void *__proviso_make_<family>(size_t size);
//! void *__proviso_make_zeroed(size_t size);
//! void *__proviso_make_text(size_t size);                    // internal; the content comes from the environment
//! // Ends the life of an object of the family. Null is a no-op; other pointers are violations.
//! void  __proviso_free_<family>(void *ptr);
//! // Memory that a model needs for itself, where the library allocates nothing, or goes on without. It never fails.
//! void *__proviso_scratch(size_t size);
//! void  __proviso_drop(void *ptr);
//! size_t __proviso_object_size(void *ptr);                   // of the live object that starts there
//! size_t __proviso_malloc_size(void *ptr);                   // the same of an object of malloc; others are violations
//! size_t __proviso_object_offset(void *ptr);                 // in the live object it points into, or to the end of, else SIZE_MAX
//!
//! // True if an allocation fails that need not: 0 unless that was asked for. For allocations that no primitive makes.
//! _Bool __proviso_allocation_fails(void);
//!
//! // A fresh value of the environment, whatever the return type the model declares. The name after
//! // `__proviso_env_` is free, so declare one for each type: `int __proviso_env_int(void);`,
//! // `double __proviso_env_double(void);`. The input shown to the user is named after the *model* that calls it.
//! T __proviso_env_<anything>(void);
//! // The bytes [ptr, ptr+size) become fresh bytes of the environment.
//! void __proviso_env_memory(void *ptr, size_t size);
//!
//! // What is not modelled exactly. The argument is a string literal that completes "…: not modelled", e.g.
//! // "sin", or a sentence for the user; the place shown is that of the model's caller.
//! void __proviso_unmodelled(const char *what);        // behaviours added and dropped: no verdict survives it
//! void __proviso_overapproximated(const char *what);  // behaviours were added: violations after it may be spurious
//! void __proviso_underapproximated(const char *what); // behaviours were dropped: no proof survives it
//! // A format asks for what is not modelled: as __proviso_unmodelled, but where all formats of the program are
//! // known and do not, there is no such path.
//! void __proviso_unknown_format(const char *what);
//! // Whether the program may print in a format that stores how much was printed (`%n`).
//! _Bool __proviso_counts(void);
//!
//! // The rounding mode of the program by x86's numbers (0 to nearest, 1 down, 2 up, 3 towards zero). In models only
//! // constrained operations (`STDC FENV_ACCESS`) are rounded in it; all others are rounded to nearest.
//! unsigned __proviso_rounding(void);
//! void __proviso_set_rounding(unsigned mode);         // less than 4
//!
//! // What C asks of arguments: an error of the caller unless the condition holds, if somebody asks for it. A sentence
//! // for the user. Models look at arguments only where `PROVISO_ARGUMENTS` is defined.
//! void __proviso_require(int condition, const char *otherwise);
//! // The byte must be initialised. Models ask only where `PROVISO_INITIALISED` is defined.
//! void __proviso_use(char byte);
//!
//! // Paths.
//! void __proviso_assume(int condition);       // the path does not exist unless the condition holds
//! void __proviso_exit(int status);            // ends the program; no at-exit handlers
//! void __proviso_abort(void);
//! ```
//!
//! If the module defines `void __proviso_at_exit(int status)` (a model of `atexit` may), it is called before the
//! program ends through `exit` or the end of `main`; `void __proviso_at_quick_exit(void)` before it ends through `quick_exit`.
//!
//! A model `F.void` stands for `F` in direct calls whose result is not used: it need not compute (or
//! over-approximate) one. See `models::ignoring_result`; calls are redirected before the models are linked.

use cfa::Family;

/// What a call of a function that is declared but not defined means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Primitive {
    /// A fresh value, an input of the program: `__VERIFIER_nondet_T`, or `nondet_T` as CBMC and ESBMC have it.
    Nondet,
    /// Fresh bytes: `__VERIFIER_nondet_memory(ptr, size)`.
    NondetMemory,
    /// The path exists only if the argument is not zero.
    Assume,
    /// It is an error, that of a failed `assert`, if the argument is zero: CBMC's and ESBMC's assertions.
    Assert,
    /// What C asks of the arguments of a library function is that the condition holds; a sentence that says what is wrong otherwise.
    Require,
    /// The argument must be initialised.
    Use,
    /// `exit(status)`, with at-exit handlers.
    Exit,
    /// Ends the program with a status, without handlers.
    ExitNow,
    /// Ends the program after what `at_quick_exit` was given.
    QuickExit,
    Abort,
    /// Has no effect on a sequential program.
    Nothing,
    /// `malloc(size)`: null if no machine has so much.
    Malloc,
    /// True if an allocation fails that need not.
    AllocationFails,
    /// `f(size)`: fresh memory of a family.
    Alloc {
        family: Family,
        may_fail: bool,
    },
    /// `f(size)`: the same of `malloc`, all zero.
    AllocZeroed {
        may_fail: bool,
    },
    /// `f(alignment, size)`: the same of `malloc`.
    AlignedAlloc,
    Free(Family),
    /// The size of an object, of a family if one is named.
    ObjectSize(Option<Family>),
    ObjectOffset,
    /// A fresh value that a model takes from the environment.
    Environment,
    /// Fresh bytes that a model takes from the environment.
    EnvironmentMemory,
    /// The number of the rounding mode.
    Rounding,
    SetRounding,
    /// A taint.
    Approximate {
        over: bool,
        under: bool,
    },
    /// Whether the program may print in a format that stores how much was printed.
    Counts,
    /// A taint, if not all formats of the program are known.
    UnknownFormat,
    /// Threads, non-local jumps, signals: changes control flow in a way that is not modelled.
    Unmodelled(&'static str),
}

/// The name of [`Primitive::UnknownFormat`].
pub(crate) const UNKNOWN_FORMAT: &str = "__proviso_unknown_format";

/// The primitive that allocates or frees memory of a family, by its name behind `__proviso_`.
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

/// The primitive of this name.
pub(crate) fn primitive(name: &str) -> Option<Primitive> {
    use Primitive::*;
    if name == "__VERIFIER_nondet_memory" {
        return Some(NondetMemory);
    }
    if name.starts_with("__VERIFIER_nondet_") || name.starts_with("nondet_") {
        return Some(Nondet);
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
            "counts" => Counts,
            "rounding" => Rounding,
            "set_rounding" => SetRounding,
            "assume" => Assume,
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
        "pthread_create" | "thrd_create" | "fork" | "vfork" | "clone" => Unmodelled("threads and processes"),
        "setjmp" | "_setjmp" | "__sigsetjmp" | "sigsetjmp" | "longjmp" | "_longjmp" | "siglongjmp"
        | "__longjmp_chk" => Unmodelled("non-local jumps"),
        "signal" | "sigaction" | "bsd_signal" | "sysv_signal" | "__sysv_signal" | "setitimer" | "alarm" => {
            Unmodelled("signal handlers")
        }
        _ => return None,
    })
}

/// How the names of CBMC's uninterpreted functions start: for equal arguments they give equal results, which may be any.
pub(crate) const UNINTERPRETED: &str = "__CPROVER_uninterpreted_";

/// Functions whose body, where the program gives none, ends the program: a failed assertion, and the error
/// functions of verification tasks. They keep a body of their own so that a property can speak of calls of them.
pub(crate) fn aborts(name: &str) -> bool {
    matches!(name, "__assert_fail" | "reach_error" | "__VERIFIER_error")
}

/// Functions that a failed assertion calls besides `__assert_fail`, in the C libraries that there are, with three parameters or more:
/// the expression, the file, the line, the function in some order; `__assert_perror_fail` the error number in place of the expression.
pub(crate) fn fails_assertion(name: &str) -> bool {
    matches!(name, "__assert_perror_fail" | "__assert" | "__assert_rtn" | "__assert_func" | "_assert")
}

/// Whether calls of a function that nobody defines mean something all the same.
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
