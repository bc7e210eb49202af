//! A C file that gives a program the inputs of a counterexample, so that it fails natively.

use crate::trace::{InputValue, Trace};
use cfa::{Bv, CType, InputKind, Program, TypeId};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What the harness must know of the program besides the trace.
pub struct Subject<'a> {
    pub files: &'a [String],
    pub error_functions: &'a [String],
    /// Functions that the program calls and nobody defines: not on the way to the error, but the linker
    /// wants them.
    pub undefined: &'a [String],
    pub ilp32: bool,
    /// The one of clang that sees the error.
    pub sanitizer: Option<&'static str>,
}

/// The C type that a function of the harness returns: one that needs no declarations of the program's.
pub fn plain_name(program: &Program, ty: TypeId) -> String {
    match program.plain_type(ty) {
        CType::Bool => "_Bool".into(),
        CType::Int { name, .. } | CType::Float { name, .. } => name.clone(),
        CType::Pointer(_) => "void *".into(),
        CType::Enum { .. } => "int".into(),
        CType::Unknown { width: 1..=8 } => "unsigned char".into(),
        CType::Unknown { width: 9..=16 } => "unsigned short".into(),
        CType::Unknown { width: 17..=32 } => "unsigned int".into(),
        CType::Unknown { .. } => "unsigned long long".into(),
        _ => program.type_name(ty),
    }
}

/// The harness for a trace.
pub fn write(trace: &Trace, subject: &Subject<'_>) -> String {
    let mut out = String::new();
    let spot = trace.spot.as_ref().map_or_else(String::new, |s| format!(" at {s}"));
    let _ = writeln!(out, "/* Made by proviso: the inputs with which {}{spot}.\n *", trace.message);
    let model = if subject.ilp32 { "-m32 " } else { "" };
    let sanitize = subject.sanitizer.map_or_else(String::new, |s| format!("-fsanitize={s} "));
    let _ = writeln!(out, " *     clang {model}{sanitize}-g {} THIS_FILE && ./a.out\n *", subject.files.join(" "));
    let _ = writeln!(out, " * Functions are weak: what the program defines itself stays as it is.");
    let others: Vec<&InputValue> =
        trace.inputs.iter().filter(|i| !matches!(i.kind, InputKind::Nondet(_)) && !is_rand(i)).collect();
    if !others.is_empty() || trace.unwritten_bytes > 0 {
        let _ = writeln!(out, " *\n * These values cannot be given from outside; the violation may depend on them:");
        for input in others {
            let place = input.spot.as_ref().map_or_else(String::new, |s| format!(", {s}"));
            let _ = writeln!(out, " *     {} = {}{place}", input.source(), input.shown);
        }
        if trace.unwritten_bytes > 0 {
            let _ = writeln!(out, " *     {} bytes of memory read before they were written", trace.unwritten_bytes);
        }
    }
    out.push_str(" */\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n");

    // Each function gives its values in the order of its calls.
    let mut functions: BTreeMap<&str, Vec<(usize, &InputValue)>> = BTreeMap::new();
    for (i, input) in trace.inputs.iter().enumerate() {
        if let InputKind::Nondet(name) | InputKind::Environment(name) = &input.kind
            && (matches!(input.kind, InputKind::Nondet(_)) || is_rand(input))
        {
            functions.entry(name).or_default().push((i, input));
        }
    }
    for (name, values) in functions {
        function(&mut out, name, &values);
    }
    for name in subject.error_functions {
        let parameters = match name.as_str() {
            // As the C library declares it.
            "__assert_fail" => "const char *what, const char *file, unsigned int line, const char *function",
            _ => "void",
        };
        let _ = writeln!(
            out,
            "__attribute__((weak)) void {name}({parameters}) {{\n    \
             fputs(\"proviso: {name} is called\\n\", stderr);\n    abort();\n}}\n"
        );
    }
    for name in subject.undefined {
        let _ = writeln!(out, "__attribute__((weak)) long {name}(void) {{ /* not called */\n    abort();\n}}\n");
    }
    out.push_str("__attribute__((weak)) void __VERIFIER_assume(int holds) {\n    if (!holds)\n        exit(0);\n}\n");
    out
}

/// Models whose one input is their result.
fn is_rand(input: &InputValue) -> bool {
    matches!(&input.kind, InputKind::Environment(f) if f == "rand" || f == "random") && input.value.width() >= 32
}

fn function(out: &mut String, name: &str, values: &[(usize, &InputValue)]) {
    let ty = &values[0].1.c_type;
    let size = values[0].1.value.width().div_ceil(8);
    let _ = writeln!(out, "__attribute__((weak)) {ty} {name}(void) {{\n    static unsigned next;");
    let _ = writeln!(out, "    static const unsigned char values[][{size}] = {{ /* least significant byte first */");
    for (i, input) in values {
        let _ = writeln!(out, "        {{{}}}, /* input {}: {} */", bytes(&input.value), i + 1, input.shown);
    }
    let count = values.len();
    let _ = writeln!(
        out,
        "    }};\n    {ty} result;\n    memset(&result, 0, sizeof result);\n    if (next < {count})\n        \
         memcpy(&result, values[next++], {size} < sizeof result ? {size} : sizeof result);\n    return result;\n}}\n"
    );
}

fn bytes(value: &Bv) -> String {
    let bytes: Vec<String> = value.to_le_bytes().iter().map(|b| format!("{b:#04x}")).collect();
    bytes.join(", ")
}
