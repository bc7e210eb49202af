//! Allocations that fail, as a trace has it.

use crate::environment::{CallResult, Environment, LibraryCall};
use crate::trace::InputValue;
use cfa::InputKind;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Those whose result is memory of the program's own, which it may free: `posix_memalign` gives it through an argument.
const FUNCTIONS: [&str; 11] = [
    "malloc",
    "calloc",
    "realloc",
    "reallocarray",
    "aligned_alloc",
    "memalign",
    "posix_memalign",
    "valloc",
    "pvalloc",
    "strdup",
    "strndup",
];

/// By function: which of its calls fail, if any does.
#[derive(Default)]
pub(super) struct Failures<'a>(BTreeMap<&'a str, Vec<bool>>);

impl<'a> Failures<'a> {
    pub fn new(inputs: &[InputValue], environment: &'a Environment) -> Self {
        let mut calls: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
        let own = inputs.iter().filter(|i| i.kind == InputKind::allocation());
        calls.insert("malloc", own.map(|i| !i.value.is_zero()).collect());
        for (name, of_library) in environment.returns.iter().filter(|(name, _)| allocates(name)) {
            calls.entry(name).or_default().extend(of_library.iter().map(|call| fails(name, call)));
        }
        calls.retain(|_, fail| fail.contains(&true));
        Self(calls)
    }

    /// What the program is compiled with: AddressSanitizer has functions of these names itself, so the program calls others.
    pub fn options(&self) -> String {
        self.0.keys().fold(String::new(), |out, name| out + &format!("-D{name}=proviso_{name} "))
    }

    /// The harness itself calls those of the library; before anything is included.
    pub fn undefine(&self, out: &mut String) {
        self.0.keys().for_each(|name| *out += &format!("#undef {name}\n"));
    }

    pub fn write(&self, out: &mut String) {
        let parameters = "char *a0, char *a1, char *a2";
        for (name, fail) in &self.0 {
            let fail: Vec<&str> = fail.iter().map(|&fails| if fails { "1" } else { "0" }).collect();
            let error = if *name == "posix_memalign" { "ENOMEM" } else { "0" };
            let _ = writeln!(
                out,
                "long long proviso_{name}_of_library({parameters}) __asm__(\"{name}\");\n\
                 long long proviso_{name}({parameters}) {{\n    static unsigned next;\n    \
                 static const char fails[] = {{{}}};\n    if (next < sizeof fails && fails[next++]) {{\n        \
                 errno = ENOMEM;\n        return {error};\n    }}\n    return proviso_{name}_of_library(a0, a1, a2);\n}}\n",
                fail.join(", ")
            );
        }
    }
}

pub(super) fn allocates(function: &str) -> bool {
    FUNCTIONS.contains(&function)
}

fn fails(function: &str, call: &LibraryCall) -> bool {
    matches!(&call.result, CallResult::Value(value) if value.is_zero() != (function == "posix_memalign"))
}
