//! Unique identifiers, with the program's own names where possible.

use rustc_hash::{FxHashMap, FxHashSet};

/// Keywords, including those of C23, and macros.
const KEYWORDS: &[&str] = &[
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "asm",
    "typeof",
    "_Bool",
    "_Alignas",
    "_Alignof",
    "_Atomic",
    "_Complex",
    "_Generic",
    "_Noreturn",
    "_Static_assert",
    "_Thread_local",
    "_Imaginary",
    "_BitInt",
    "_Float16",
    "_Float32",
    "_Float64",
    "_Float128",
    "_Float32x",
    "_Float64x",
    "_Decimal32",
    "_Decimal64",
    "_Decimal128",
    // C23.
    "alignas",
    "alignof",
    "bool",
    "constexpr",
    "false",
    "nullptr",
    "static_assert",
    "thread_local",
    "true",
    "typeof_unqual",
    // Macros that GNU C predefines.
    "linux",
    "unix",
    "i386",
];

/// Functions that the printer calls itself.
const CALLED: &[&str] = &[
    "malloc",
    "calloc",
    "_Exit",
    "on_exit",
    "free",
    "memmove",
    "memset",
    "memcpy",
    "exit",
    "abort",
    "reach_error",
    "main",
    "__VERIFIER_assume",
    "aligned_alloc",
    "fabs",
    "sqrt",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "round",
    "fmod",
    "fmin",
    "fmax",
    "fma",
    "fabsf",
    "sqrtf",
    "floorf",
    "ceilf",
    "truncf",
    "rintf",
    "roundf",
    "fmodf",
    "fminf",
    "fmaxf",
    "fmaf",
    "fabsl",
    "sqrtl",
    "floorl",
    "ceill",
    "truncl",
    "rintl",
    "roundl",
    "fmodl",
    "fminl",
    "fmaxl",
    "fmal",
];

/// The names of a file, and the names of the current function.
pub struct Names {
    file: Scope,
    function: Scope,
    tags: Scope,
}

/// The names in a scope.
#[derive(Default)]
struct Scope {
    taken: FxHashSet<String>,
    /// By name, the first suffix that may be free. A residual program of a condition may have thousands of copies of a
    /// function.
    next: FxHashMap<String, u32>,
}

impl Names {
    /// The names of an empty file.
    pub fn new() -> Self {
        let taken = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let file = Scope { taken: taken(&[KEYWORDS, CALLED].concat()), ..Scope::default() };
        let tags = Scope { taken: taken(KEYWORDS), ..Scope::default() };
        Self { file, function: Scope::default(), tags }
    }

    /// Starts a function. Its local names may repeat those of other functions.
    pub fn begin_function(&mut self) {
        self.function = Scope::default();
    }

    /// Reserves exactly this name, which is defined elsewhere.
    pub fn reserve(&mut self, name: &str) {
        self.file.taken.insert(name.to_owned());
    }

    /// A new file-level identifier, as similar to `name` as possible. The current function does not hide it.
    pub fn fresh(&mut self, name: &str) -> String {
        self.file.unused(&self.function, name)
    }

    /// A new identifier of the current function.
    pub fn fresh_local(&mut self, name: &str) -> String {
        self.function.unused(&self.file, name)
    }

    /// A new tag.
    pub fn tag(&mut self, name: &str) -> String {
        self.tags.unused(&Scope::default(), name)
    }

    /// Reserves the name for a typedef. Returns false if it is not available.
    pub fn typedef(&mut self, name: &str) -> bool {
        !self.function.taken.contains(name) && !name.starts_with(OURS) && self.file.taken.insert(name.to_owned())
    }
}

/// The prefix of the printer's own names.
const OURS: &str = "proviso_";

/// Returns true if a struct member cannot have this name.
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name)
}

impl Scope {
    /// A new name that is neither in this scope nor in `other`.
    fn unused(&mut self, other: &Self, name: &str) -> String {
        let mut base: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, '_');
        }
        if base.starts_with(OURS) {
            base.insert_str(0, "own_");
        }
        let mut candidate = base.clone();
        if self.taken.contains(&candidate) || other.taken.contains(&candidate) {
            let n = self.next.entry(base.clone()).or_insert(2);
            while self.taken.contains(&candidate) || other.taken.contains(&candidate) {
                candidate = format!("{base}_{n}");
                *n += 1;
            }
        }
        self.taken.insert(candidate.clone());
        candidate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_at_once_however_many_are_alike() {
        let mut names = Names::new();
        assert_eq!(names.fresh("f"), "f");
        for n in 2..200_000 {
            assert_eq!(names.fresh("f"), format!("f_{n}"));
            names.begin_function();
            assert_eq!(names.fresh_local("x"), "x");
        }
    }

    #[test]
    fn names_of_the_file_and_of_a_function_are_no_two_for_one() {
        let mut names = Names::new();
        names.begin_function();
        assert_eq!(names.fresh_local("f"), "f");
        assert_eq!(names.fresh("f"), "f_2");
        assert_eq!(names.fresh_local("f"), "f_3");
        assert!(!names.typedef("f"));
        names.begin_function();
        assert!(names.typedef("f"));
        assert_eq!((names.fresh_local("f").as_str(), names.fresh_local("int").as_str()), ("f_3", "int_2"));
    }
}
