//! Identifiers: the program's own where they can be, and never two for one.

use rustc_hash::FxHashSet;

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
    // What the printer writes itself.
    "malloc",
    "calloc",
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

/// The names of one scope: the file's, or a function's on top of it.
#[derive(Clone)]
pub struct Names {
    taken: FxHashSet<String>,
    tags: FxHashSet<String>,
}

impl Names {
    pub fn new() -> Self {
        Self { taken: KEYWORDS.iter().map(|&k| k.to_owned()).collect(), tags: FxHashSet::default() }
    }

    /// Takes exactly this name: what is defined elsewhere goes by it.
    pub fn reserve(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    /// As [`fresh`](Self::fresh), and not one of the names of a scope within this one.
    pub fn fresh_beside(&mut self, name: &str, inner: &mut Self) -> String {
        loop {
            let candidate = self.fresh(name);
            if inner.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }

    /// An identifier of its own, as close to `name` as can be.
    pub fn fresh(&mut self, name: &str) -> String {
        unused(&mut self.taken, name)
    }

    pub fn tag(&mut self, name: &str) -> String {
        unused(&mut self.tags, name)
    }

    /// Whether a typedef can have exactly this name.
    pub fn typedef(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_owned())
    }
}

fn unused(taken: &mut FxHashSet<String>, name: &str) -> String {
    let mut base: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
        base.insert(0, '_');
    }
    let mut candidate = base.clone();
    let mut n = 2;
    while !taken.insert(candidate.clone()) {
        candidate = format!("{base}_{n}");
        n += 1;
    }
    candidate
}
