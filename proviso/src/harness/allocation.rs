//! Allocations that fail, and memory that is read before it is written, as a trace has them.

use super::{Subject, literal, runs};
use crate::environment::{CallResult, LibraryCall};
use crate::trace::{Block, Trace};
use cfa::InputKind;
use std::collections::BTreeMap;
use std::fmt::Write;

const MALLOC: &str = "malloc";
/// Those whose result is memory of the program's own, which it may free: `posix_memalign` gives it through an argument.
const FUNCTIONS: [&str; 11] = [
    MALLOC,
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

/// What the allocations of a trace give.
pub(super) struct Allocations<'a> {
    /// By function: which of its calls fail, if any does.
    failures: BTreeMap<&'a str, Vec<bool>>,
    /// What is read of `malloc`'s before it is written, up to the last of them with such bytes.
    blocks: &'a [Block],
}

impl<'a> Allocations<'a> {
    pub fn new(trace: &'a Trace, subject: &Subject<'_>) -> Self {
        let mut failures: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
        let own = trace.inputs.iter().filter(|i| i.kind == InputKind::allocation());
        failures.insert(MALLOC, own.map(|i| !i.value.is_zero()).collect());
        for (name, calls) in trace.environment.returns.iter().filter(|(name, _)| allocates(name)) {
            failures.entry(name).or_default().extend(calls.iter().map(|call| fails(name, call)));
        }
        let read = match subject.sanitizer {
            // It has to see that nobody wrote it.
            Some("memory") => 0,
            _ => trace.heap.iter().rposition(|block| !block.bytes.is_empty()).map_or(0, |last| last + 1),
        };
        failures.retain(|name, calls| calls.contains(&true) || *name == MALLOC && read > 0);
        Self { failures, blocks: &trace.heap[..read] }
    }

    /// Those that are written: AddressSanitizer has functions of these names itself, so the program calls others.
    pub fn functions(&self) -> impl Iterator<Item = &'a str> {
        self.failures.keys().copied()
    }

    pub fn write(&self, out: &mut String) {
        if !self.blocks.is_empty() {
            blocks(out, self.blocks);
        }
        let parameters = "char *a0, char *a1, char *a2";
        for (name, fail) in &self.failures {
            let error = if *name == "posix_memalign" { "ENOMEM" } else { "0" };
            let given = match self.blocks.is_empty() || *name != MALLOC {
                true => format!("proviso_{name}_of_library(a0, a1, a2)"),
                false => "(long)proviso_block((size_t)a0)".into(),
            };
            // Behind those of the trace none fails.
            let fail: String = fail.iter().map(|&fails| if fails { "1, " } else { "0, " }).collect();
            let _ = writeln!(
                out,
                "long long proviso_{name}_of_library({parameters}) __asm__(\"{name}\");\n\
                 long long proviso_{name}({parameters}) {{\n    static unsigned next;\n    \
                 static const char fails[] = {{{fail}0}};\n    if (next < sizeof fails && fails[next++]) {{\n        \
                 errno = ENOMEM;\n        return {error};\n    }}\n    return {given};\n}}\n",
            );
        }
    }
}

/// Memory with what is read before it is written. Where the program is compiled with `malloc` as it is, calls of the C library's own
/// have other sizes, as a rule.
fn blocks(out: &mut String, blocks: &[Block]) {
    out.push_str(
        "/* Memory that the program reads before it writes it. */\n\
         static void *proviso_block(size_t size) {\n    static unsigned next;\n    char *block = calloc(1, size);\n    \
         if (!block)\n        return NULL;\n    switch (next) {\n",
    );
    for (n, block) in blocks.iter().enumerate() {
        let _ =
            writeln!(out, "    case {n}:\n        if (size != {})\n            break;\n        next++;", block.size);
        for (at, bytes) in runs(&block.bytes) {
            let _ = writeln!(out, "        memcpy(block + {at}, {}, {});", literal(&bytes), bytes.len());
        }
        out.push_str("        break;\n");
    }
    out.push_str("    }\n    return block;\n}\n__attribute__((weak)) void *malloc(size_t size) {\n    return proviso_block(size);\n}\n\n");
}

pub(super) fn allocates(function: &str) -> bool {
    FUNCTIONS.contains(&function)
}

fn fails(function: &str, call: &LibraryCall) -> bool {
    matches!(&call.result, CallResult::Value(value) if value.is_zero() != (function == "posix_memalign"))
}
