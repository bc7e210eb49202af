//! Allocations that fail, and memory that is read before it is written, as a trace has them.

use super::{Subject, literal, runs, writes_arguments};
use crate::environment::{CallResult, LibraryCall};
use crate::trace::{Block, Trace};
use cfa::InputKind;
use std::collections::BTreeMap;
use std::fmt::Write;

const MALLOC: &str = "malloc";
/// Arguments that are handed over to the library's function.
const ARGUMENTS: usize = 10;

/// What the allocations of a trace give.
pub(super) struct Allocations<'a> {
    /// By function: its calls up to the last one, if any of them fails.
    failures: BTreeMap<&'a str, Vec<Allocation<'a>>>,
    /// What is read of `malloc`'s before it is written, up to the last of them with such bytes.
    blocks: &'a [Block],
}

/// A call of a function that allocates.
enum Allocation<'a> {
    Succeeds,
    /// `malloc` gives null.
    Fails,
    /// What a function of the library does that finds no memory.
    FailsInLibrary(&'a LibraryCall),
}

impl Allocation<'_> {
    fn fails(&self) -> bool {
        !matches!(self, Self::Succeeds)
    }
}

impl<'a> Allocations<'a> {
    pub fn new(trace: &'a Trace, subject: &Subject<'_>) -> Self {
        let own = trace.inputs.iter().filter(|i| i.kind == InputKind::allocation());
        let own = own.map(|i| if i.value.is_zero() { Allocation::Succeeds } else { Allocation::Fails });
        let mut failures = BTreeMap::from([(MALLOC, own.collect::<Vec<_>>())]);
        for (name, calls) in &trace.environment.allocating {
            let calls = calls.iter().map(|call| match call.allocations.contains(&true) {
                true => Allocation::FailsInLibrary(call),
                false => Allocation::Succeeds,
            });
            failures.insert(name, calls.collect());
        }
        let read = match subject.sanitizer {
            // It has to see that nobody wrote it.
            Some("memory") => 0,
            _ => trace.heap.iter().rposition(|block| !block.bytes.is_empty()).map_or(0, |last| last + 1),
        };
        failures.retain(|name, calls| calls.iter().any(Allocation::fails) || *name == MALLOC && read > 0);
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
        for (name, calls) in &self.failures {
            let is_printing = name.ends_with("asprintf") && !name.starts_with('v');
            let parameters = |count: usize| (0..count).map(|n| format!("char *a{n}")).collect::<Vec<_>>().join(", ");
            let arguments: Vec<String> = (0..ARGUMENTS).map(|n| format!("a{n}")).collect();
            let arguments = arguments.join(", ");
            let declaration = |name: &str, of: &str| match is_printing {
                true => format!("int {name}(char **a0, const char *a1, {of})"),
                false => format!("long long {name}({})", parameters(ARGUMENTS)),
            };
            let _ = match is_printing {
                true => writeln!(
                    out,
                    "#include <stdarg.h>\n{} __asm__(\"v{name}\");",
                    declaration(&format!("proviso_v{name}"), "va_list")
                ),
                false => {
                    writeln!(out, "{} __asm__(\"{name}\");", declaration(&format!("proviso_{name}_of_library"), "..."))
                }
            };
            let _ = writeln!(
                out,
                "{} {{\n    static unsigned next;\n    switch (next++) {{",
                declaration(&format!("proviso_{name}"), "...")
            );
            for (n, call) in calls.iter().enumerate() {
                match call {
                    Allocation::Succeeds => {}
                    Allocation::Fails => {
                        let _ = writeln!(out, "    case {n}:\n        errno = ENOMEM;\n        return 0;");
                    }
                    Allocation::FailsInLibrary(call) => {
                        let _ = writeln!(out, "    case {n}:");
                        writes_arguments(out, call);
                        let result = match &call.result {
                            CallResult::Value(value) => super::integer(value),
                            _ => "0".to_owned(),
                        };
                        let _ = writeln!(out, "        errno = ENOMEM;\n        return {result};");
                    }
                }
            }
            out.push_str("    }\n");
            // Behind the calls of the trace none fails.
            let _ = match (is_printing, self.blocks.is_empty() || *name != MALLOC) {
                (true, _) => writeln!(
                    out,
                    "    va_list list;\n    va_start(list, a1);\n    return proviso_v{name}(a0, a1, list);\n}}\n"
                ),
                (false, true) => writeln!(out, "    return proviso_{name}_of_library({arguments});\n}}\n"),
                (false, false) => writeln!(out, "    return (long)proviso_block((size_t)a0);\n}}\n"),
            };
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
