//! Decides where a function or variable is defined: in the file, in the C library, or in other code.

use super::shape::FunctionGraph;
use cfa::{Callee, Check, FuncId, Function, FunctionOrigin, InputKind, Op, Out, PlaceId, Program, VarId};

/// The role of a function in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The file contains its body.
    Body,
    /// The file declares it; other code defines it.
    External,
    /// Calling it violates the property.
    Error,
}

/// The role of a function.
pub fn role(p: &Program, f: FuncId) -> Role {
    let function = &p.funcs[f];
    if is_error(p, function) {
        return Role::Error;
    }
    match function.origin {
        FunctionOrigin::Source => Role::Body,
        FunctionOrigin::Undefined => Role::External,
        FunctionOrigin::Model if is_public(p, function) && !keeps_handlers(function) => Role::External,
        FunctionOrigin::Model => Role::Body,
    }
}

/// Returns true if the function registers or runs exit handlers. The file contains these functions itself: destructors
/// run after handlers, and `_Exit` runs neither. Calls of the library in the middle of the program could not preserve
/// that.
pub fn keeps_handlers(function: &Function) -> bool {
    const NAMES: [&str; 6] =
        ["__cxa_atexit", "__proviso_at_exit", "__proviso_at_quick_exit", "at_quick_exit", "atexit", "on_exit"];
    function.origin == FunctionOrigin::Model && NAMES.contains(&function.name.as_str())
}

/// The functions that run handlers and destructors at the end of the program: all copies if a condition has copied the
/// function. Empty if there are none.
pub fn exit_functions(p: &Program) -> Vec<FuncId> {
    let named = |name: &str| p.funcs.iter().filter(|(_, f)| f.name == name).map(|(f, _)| f).collect();
    let all: Vec<FuncId> = named("__proviso_exit_handlers");
    if all.is_empty() { named("__proviso_at_exit") } else { all }
}

/// Returns true if the function has the name of a C library function.
fn is_public(p: &Program, function: &Function) -> bool {
    p.models.iter().any(|m| m == public_name(function))
}

/// The C name of a function. Models of functions whose result is ignored have an internal name with a prefix, which is
/// removed.
pub fn public_name(function: &Function) -> &str {
    match function.origin {
        FunctionOrigin::Model => function.name.strip_prefix("proviso_").unwrap_or(&function.name),
        _ => &function.name,
    }
}

/// Returns true if calling the function violates the property.
pub fn is_error(p: &Program, function: &Function) -> bool {
    match p.locs[function.entry].out {
        Out::One(edge) => matches!(p.edges[edge].op, Op::Error(error) if p.errors[error].check == Check::Call),
        _ => false,
    }
}

/// Returns true if other code defines the entity: it is undefined here, and no model declares it.
pub fn is_external(p: &Program, place: Option<PlaceId>, undefined: bool) -> bool {
    undefined && !place.is_some_and(|place| p.is_of_models(place))
}

/// Returns true if the C library defines the variable (`stdout`).
pub fn is_library_variable(p: &Program, v: VarId) -> bool {
    let var = &p.vars[v];
    let declared_by_model = var.place.is_some_and(|place| p.is_of_models(place));
    declared_by_model && var.name.as_ref().is_some_and(|name| p.models.contains(name) || name.starts_with("std"))
}

/// The C expression for `errno`. Models represent it by a variable of their own.
pub const ERRNO: &str = "(*__errno_location())";
/// The function that returns the address of `errno`.
pub const ERRNO_LOCATION: &str = "__errno_location";

/// Returns true if the object is the models' `errno`.
pub fn is_errno(p: &Program, name: &str, place: Option<PlaceId>) -> bool {
    name == "proviso_errno" && place.is_some_and(|place| p.is_of_models(place))
}

/// The linkage specifier of a function's definition. Models are local to the file.
pub fn linkage(p: &Program, f: FuncId) -> &'static str {
    match p.funcs[f].origin {
        FunctionOrigin::Model => "static ",
        _ => "",
    }
}

/// Returns true if the entry function chooses which string literals share memory.
pub fn shares_literals(p: &Program) -> bool {
    p.inputs.values().any(|input| input.kind == InputKind::literals())
}

/// The user's main function, if the entry function does nothing else that has to be written. The environment supplies
/// the arguments.
pub fn plain_main(p: &Program) -> Option<FuncId> {
    if shares_literals(p) {
        return None;
    }
    let shape = FunctionGraph::new(p, p.entry);
    let mut main = None;
    for edge in shape.locs.iter().flat_map(|&loc| p.out_edges(loc)) {
        if let Op::Call { callee, .. } = &p.edges[edge].op {
            let Callee::Direct(f) = *callee else { return None };
            let function = &p.funcs[f];
            match function.origin {
                FunctionOrigin::Source if function.name == "main" && main.is_none() => main = Some(f),
                FunctionOrigin::Model if role(p, f) == Role::External => {}
                _ => return None,
            }
        }
    }
    main
}
