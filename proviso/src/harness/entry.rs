//! The call of the entry function, if that is not `main`.
//!
//! The harness declares the function with the parameters of the compiled program. The parts of a small struct are
//! separate parameters; a large struct is an object in memory. The harness therefore does not need the program's own
//! declarations.

use super::{bytes, environment_before, in_comment, integer, literal, runs};
use cfa::Passing;
use driver::environment::Environment;
use driver::trace::{Argument, Arguments, Target};
use frontend_llvm::GIVEN;
use std::fmt::Write;

/// Writes a function that runs before `main`: it creates the objects of the call, calls the entry function, and exits.
pub(super) fn call(out: &mut String, arguments: &Arguments, ilp32: bool, environment: &Environment) {
    let name = &arguments.function;
    let _ = writeln!(out, "\n__attribute__((weak)) int main(void) {{\n    return 0;\n}}\n");
    for (n, argument) in arguments.values.iter().enumerate() {
        if let Some(body) = in_memory(argument, ilp32) {
            let _ = writeln!(out, "/* Passed in memory. */\nstruct proviso_copy{n} {body};\n");
        }
    }
    let ty = |(n, argument): (usize, &Argument)| match argument.passing {
        Passing::Copy { .. } if in_memory(argument, ilp32).is_some() => format!("struct proviso_copy{n}"),
        _ if is_passed(argument, ilp32) => argument.c_type.clone(),
        _ => "long".to_owned(),
    };
    let parameters: Vec<String> = arguments.values.iter().enumerate().map(ty).collect();
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    let _ = writeln!(out, "__attribute__((weak)) long proviso_entry({parameters}) __asm__(\"{name}\");");
    environment_before(out, environment);
    let _ = writeln!(out, "    if (!proviso_entry) {{");
    let _ = writeln!(
        out,
        "        fputs(\"proviso: {name} is static; compile the program with -Dstatic= to call it\\n\", stderr);\n        \
         exit(2);\n    }}"
    );
    for (n, object) in arguments.objects.iter().enumerate() {
        let pointer = |target: Option<Target>| target.map_or_else(|| "NULL".to_owned(), address);
        let holds = in_comment(&object.shown(pointer));
        let _ = writeln!(out, "    char *object{n} = calloc(1, {}); /* {}: {holds} */", object.size.max(1), object.ty);
    }
    for (n, object) in arguments.objects.iter().enumerate() {
        for (at, bytes) in runs(&object.bytes) {
            let _ = writeln!(out, "    memcpy(object{n} + {at}, {}, {});", literal(&bytes), bytes.len());
        }
        for (at, target) in &object.pointers {
            let target = target.map_or("NULL".to_owned(), address);
            let _ = writeln!(out, "    *(void **)(object{n} + {at}) = {target};");
        }
    }
    let value = |(n, a): (usize, &Argument)| if is_passed(a, ilp32) { argument(out, n, a) } else { "0".to_owned() };
    let values: Vec<String> = arguments.values.iter().enumerate().map(value).collect();
    let _ = writeln!(out, "    proviso_entry({});\n    exit(0);\n}}", values.join(", "));
}

/// Returns descriptions of the arguments that the harness cannot pass.
pub(super) fn not_passed(arguments: &Arguments, ilp32: bool) -> Vec<String> {
    let values = arguments.values.iter().enumerate().filter(|(_, a)| !is_passed(a, ilp32));
    let named = |(n, a): (usize, &Argument)| match a.name.as_str() {
        "" => format!("number {}", n + 1),
        name => name.trim_start_matches('&').to_owned(),
    };
    values
        .map(named)
        .map(|name| format!("the argument '{name}' of '{}', which is passed as 0", arguments.function))
        .collect()
}

fn is_passed(argument: &Argument, ilp32: bool) -> bool {
    match argument.passing {
        Passing::Copy { .. } => in_memory(argument, ilp32).is_some(),
        Passing::Other => false,
        // The registers for other sizes depend on the processor.
        Passing::Vector => argument.value.width() == 128 || !ilp32,
        Passing::Integer { .. } => argument.value.width() <= 64 || !ilp32,
        Passing::Float(_) | Passing::Pointer => true,
    }
}

/// Returns the body of a struct of the argument's size that the calling convention passes in memory; `None` if there
/// is no such struct. On x86-64, a struct with an unaligned member is passed in memory, whatever its size. On IA-32,
/// all structs are.
fn in_memory(argument: &Argument, ilp32: bool) -> Option<String> {
    let Passing::Copy { size, align } = argument.passing else { return None };
    match (ilp32, align) {
        (true, ..=4) => Some(format!("{{\n    char bytes[{size}];\n}}")),
        (false, _) if size >= 3 => {
            let aligned = if align > 8 { format!(", aligned({align})") } else { String::new() };
            let rest = size - 3;
            Some(format!(
                "{{\n    char first;\n    short odd;\n    char rest[{rest}];\n}} __attribute__((packed{aligned}))"
            ))
        }
        _ => None,
    }
}

fn address(target: Target) -> String {
    match target {
        Target::Object(n) => format!("object{n}"),
        Target::Function => GIVEN.to_owned(),
    }
}

/// Returns the C expression of an argument in the call, and writes the variables that the expression needs.
fn argument(out: &mut String, n: usize, argument: &Argument) -> String {
    let ty = &argument.c_type;
    match (argument.passing, argument.target) {
        (Passing::Copy { size, .. }, target) => {
            let _ = writeln!(out, "    static struct proviso_copy{n} copy{n}; /* {} */", argument.name);
            if let Some(target) = target {
                let _ = writeln!(out, "    memcpy(&copy{n}, {}, {size});", address(target));
            }
            format!("copy{n}")
        }
        (_, Some(target)) => format!("(void *){}", address(target)),
        (Passing::Integer { .. } | Passing::Pointer, None) if argument.value.width() <= 64 => {
            format!("({ty}){}", integer(&argument.value))
        }
        _ => {
            let size = argument.value.width() / 8;
            let _ = writeln!(out, "    static const unsigned char bits{n}[] = {{{}}};", bytes(&argument.value));
            let _ = writeln!(
                out,
                "    static {ty} value{n}; /* {} */\n    memcpy(&value{n}, bits{n}, {size});",
                argument.name
            );
            format!("value{n}")
        }
    }
}
