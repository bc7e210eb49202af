//! Who defines what is named in a program: this file, the C library, or somebody else.

use cfa::{Callee, Check, FuncId, Function, FunctionOrigin, Op, Out, PlaceId, Program, VarId};

/// What becomes of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Its body is written.
    Body,
    /// It is declared: somebody else defines it.
    External,
    /// Calling it is the error that is looked for.
    Error,
}

/// What becomes of it.
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

/// Whether it keeps or runs what is to run when the program ends. The file does that itself: destructors come behind handlers, and
/// `_Exit` runs neither, which the library could not be told of calls in the middle of the program.
pub fn keeps_handlers(function: &Function) -> bool {
    const NAMES: [&str; 6] =
        ["__cxa_atexit", "__proviso_at_exit", "__proviso_at_quick_exit", "at_quick_exit", "atexit", "on_exit"];
    function.origin == FunctionOrigin::Model && NAMES.contains(&function.name.as_str())
}

/// The function that runs handlers and destructors when the program ends, if there are any; all its copies, where a condition has copied it.
pub fn exit_functions(p: &Program) -> Vec<FuncId> {
    let named = |name: &str| p.funcs.iter().filter(|(_, f)| f.name == name).map(|(f, _)| f).collect();
    let all: Vec<FuncId> = named("__proviso_exit_handlers");
    if all.is_empty() { named("__proviso_at_exit") } else { all }
}

/// Whether it is what a function of the C library is called by.
fn is_public(p: &Program, function: &Function) -> bool {
    p.models.iter().any(|m| m == public_name(function))
}

/// The C name of a function; a model's own name for itself, where its result is ignored, is not one.
pub fn public_name(function: &Function) -> &str {
    match function.origin {
        FunctionOrigin::Model => function.name.strip_prefix("proviso_").unwrap_or(&function.name),
        _ => &function.name,
    }
}

/// Whether calling the function is an error of the property.
pub fn is_error(p: &Program, function: &Function) -> bool {
    match p.locs[function.entry].out {
        Out::One(edge) => matches!(p.edges[edge].op, Op::Error(error) if p.errors[error].check == Check::Call),
        _ => false,
    }
}

/// Whether somebody else defines what is declared there: nobody here, or a model.
pub fn is_external(p: &Program, place: Option<PlaceId>, undefined: bool) -> bool {
    undefined && !place.is_some_and(|place| is_model(p, place))
}

pub fn is_model(p: &Program, place: PlaceId) -> bool {
    p.files[p.places[place].file].path.starts_with("<models>")
}

/// Whether the C library defines the variable (`stdout`).
pub fn is_library_variable(p: &Program, v: VarId) -> bool {
    let var = &p.vars[v];
    let declared_by_model = var.place.is_some_and(|place| is_model(p, place));
    declared_by_model && var.name.as_ref().is_some_and(|name| p.models.contains(name) || name.starts_with("std"))
}

/// How C comes to `errno`, which models change as a variable of theirs.
pub const ERRNO: &str = "(*__errno_location())";
pub const ERRNO_LOCATION: &str = "__errno_location";

pub fn is_errno(p: &Program, name: &str, place: Option<PlaceId>) -> bool {
    name == "proviso_errno" && place.is_some_and(|place| is_model(p, place))
}

/// What a definition of the function begins with. Models are nobody's but this file's.
pub fn linkage(p: &Program, f: FuncId) -> &'static str {
    match p.funcs[f].origin {
        FunctionOrigin::Model => "static ",
        _ => "",
    }
}

/// The user's main function, if the program's start does nothing else that is written: arguments are the environment's.
pub fn plain_main(p: &Program) -> Option<FuncId> {
    let shape = super::structure::Shape::new(p, p.entry);
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
