//! Allocations that fail, and memory that is read before it is written, as recorded in a trace.

use super::{Subject, integer, literal, runs, writes_arguments};
use cfa::InputKind;
use driver::environment::{CallResult, LibraryCall};
use driver::trace::{Block, Trace};
use std::collections::BTreeMap;
use std::fmt::Write;

const MALLOC: &str = "malloc";
/// The number of arguments that are passed on to the function of the library.
const ARGUMENTS: usize = 10;

/// The results of the allocations of a trace.
pub(super) struct Allocations<'a> {
    /// The calls of each function that fails at least once, in order; also those of `malloc` if there are blocks.
    failures: BTreeMap<&'a str, Vec<Allocation<'a>>>,
    /// The bytes of memory from `malloc` that are read before they are written, up to the last block with such bytes.
    blocks: &'a [Block],
}

/// A call of a function that allocates memory.
enum Allocation<'a> {
    Succeeds,
    /// `malloc` returns null.
    Fails,
    /// A function of the library fails because it gets no memory.
    FailsInLibrary(&'a LibraryCall),
}

impl Allocation<'_> {
    fn fails(&self) -> bool {
        !matches!(self, Self::Succeeds)
    }
}

impl<'a> Allocations<'a> {
    /// Collects the allocations of a trace.
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
            // MemorySanitizer reports the error only if the memory remains unwritten.
            Some("memory") => 0,
            _ => trace.heap.iter().rposition(|block| !block.bytes.is_empty()).map_or(0, |last| last + 1),
        };
        failures.retain(|name, calls| calls.iter().any(Allocation::fails) || *name == MALLOC && read > 0);
        Self { failures, blocks: &trace.heap[..read] }
    }

    /// Returns the names of the functions to write. AddressSanitizer defines functions with these names itself, so the
    /// program calls functions with other names.
    pub fn functions(&self) -> impl Iterator<Item = &'a str> {
        self.failures.keys().copied()
    }

    /// Writes the functions of the harness that replace the allocating functions.
    pub fn write(&self, out: &mut String) {
        if !self.blocks.is_empty() {
            blocks(out, self.blocks);
        }
        for (name, calls) in &self.failures {
            let form = Form::new(name, *name == MALLOC && !self.blocks.is_empty());
            let _ = writeln!(
                out,
                "{}\n{} {{\n    static unsigned next;\n    switch (next++) {{",
                form.of_library, form.own
            );
            for (n, call) in calls.iter().enumerate().filter(|(_, call)| call.fails()) {
                let _ = writeln!(out, "    case {n}:");
                let result = match call {
                    Allocation::FailsInLibrary(LibraryCall { result: CallResult::Value(value), .. }) => integer(value),
                    _ => "0".to_owned(),
                };
                if let Allocation::FailsInLibrary(call) = call {
                    writes_arguments(out, call);
                }
                let _ = writeln!(out, "        errno = ENOMEM;\n        return {result};");
            }
            // After the calls of the trace, no call fails.
            let _ = writeln!(out, "    }}\n    {}\n}}\n", form.call);
        }
    }
}

/// The parts of a function that replaces a function of the library.
struct Form {
    /// The head of the function.
    own: String,
    /// The declaration of the library's function.
    of_library: String,
    /// The statements that call the function of the library.
    call: String,
}

impl Form {
    /// Returns the form of the function `name`. If `has_blocks` is set, the harness itself provides the allocated
    /// memory.
    fn new(name: &str, has_blocks: bool) -> Self {
        if name.ends_with("asprintf") && !name.starts_with('v') {
            let parameters = "char **a0, const char *a1";
            return Self {
                own: format!("int proviso_{name}({parameters}, ...)"),
                of_library: format!(
                    "#include <stdarg.h>\nint proviso_v{name}({parameters}, va_list) __asm__(\"v{name}\");"
                ),
                call: format!("va_list list;\n    va_start(list, a1);\n    return proviso_v{name}(a0, a1, list);"),
            };
        }
        let parameters: Vec<String> = (0..ARGUMENTS).map(|n| format!("char *a{n}")).collect();
        let arguments: Vec<String> = (0..ARGUMENTS).map(|n| format!("a{n}")).collect();
        let (parameters, arguments) = (parameters.join(", "), arguments.join(", "));
        Self {
            own: format!("long long proviso_{name}({parameters})"),
            of_library: format!("long long proviso_{name}_of_library({parameters}) __asm__(\"{name}\");"),
            call: match has_blocks {
                true => "return (long)proviso_block((size_t)a0);".to_owned(),
                false => format!("return proviso_{name}_of_library({arguments});"),
            },
        }
    }
}

/// Writes a function that returns memory with the bytes that are read before they are written. If the program calls
/// `malloc` by its own name, the calls of the C library count as well. The sizes of the blocks tell them apart in most
/// cases.
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
