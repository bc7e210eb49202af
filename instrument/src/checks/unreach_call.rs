//! Property unreach-call: some functions are never called.

use cfa::{Check, ErrorId, ErrorInfo, FuncId, Op, Out, Program};

/// What [`unreach_call`] found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UnreachCall {
    /// The functions that are errors now, in the order of the names asked for, then by id. Static functions
    /// of several translation units may share a name.
    pub errors: Vec<(FuncId, ErrorId)>,
    /// The names that no function of the program has: nothing can call them.
    pub missing: Vec<String>,
}

/// Makes calling any of the named functions an error.
///
/// The error edge stands before the body, so every call reaches it, direct or through a pointer, and what
/// the body does (it may be unknown) does not matter. A function that is an error already stays as it is.
pub fn unreach_call(program: &mut Program, error_functions: &[String]) -> UnreachCall {
    let mut found = UnreachCall::default();
    for (i, name) in error_functions.iter().enumerate() {
        if error_functions[..i].contains(name) {
            continue;
        }
        let named: Vec<_> = program.funcs.iter().filter(|(_, f)| f.name == *name).map(|(id, _)| id).collect();
        if named.is_empty() {
            found.missing.push(name.clone());
        }
        found.errors.extend(named.into_iter().map(|func| (func, error_at_entry(program, func))));
    }
    found
}

fn error_at_entry(program: &mut Program, func: FuncId) -> ErrorId {
    let function = &program.funcs[func];
    if let Out::One(edge) = program.locs[function.entry].out
        && let Op::Error(error) = program.edges[edge].op
        && program.errors[error].check == Check::Call
    {
        return error;
    }
    let place = function.place;
    let message = format!("{} is called", function.name);
    let error = program.errors.push(ErrorInfo { check: Check::Call, message, place });
    let (entry, sink) = (program.add_location(func), program.add_location(func));
    program.add_edge(entry, Op::Error(error), sink, place);
    program.funcs[func].entry = entry;
    error
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::{CType, Callee, DataLayout};

    fn program(names: &[&str]) -> Program {
        let mut program = Program::new(DataLayout { pointer_width: 64 });
        let void = program.types.push(CType::Void);
        for name in names {
            let f = program.add_function(name, void, None);
            let entry = program.funcs[f].entry;
            let exit = program.add_location(f);
            program.add_edge(entry, Op::Return { value: None }, exit, None);
        }
        program
    }

    #[test]
    fn every_call_meets_the_error_first() {
        let mut p = program(&["reach_error", "other", "reach_error"]);
        let names = ["absent", "reach_error", "reach_error"].map(String::from);
        let found = unreach_call(&mut p, &names);
        assert_eq!(found.missing, ["absent"]);
        assert_eq!(found.errors.iter().map(|(f, _)| f.0).collect::<Vec<_>>(), [1, 3]);
        for (f, error) in &found.errors {
            let edge = p.out_edges(p.funcs[*f].entry).next().unwrap();
            assert_eq!(p.edges[edge].op, Op::Error(*error));
            assert_eq!(p.locs[p.edges[edge].target].out, Out::Sink);
            assert_eq!(p.errors[*error].message, "reach_error is called");
        }
        let other = p.out_edges(p.funcs[FuncId(2)].entry).next().unwrap();
        assert_eq!(p.edges[other].op, Op::Return { value: None });
    }

    #[test]
    fn a_second_time_changes_nothing() {
        let mut p = program(&["reach_error"]);
        let names = ["reach_error".to_owned()];
        let (entry, exit) = (p.funcs[p.entry].entry, p.add_location(p.entry));
        let call = Op::Call { callee: Callee::Direct(FuncId(1)), args: Box::default(), varargs: None, result: None };
        p.add_edge(entry, call, exit, None);
        let first = unreach_call(&mut p, &names);
        let edges = p.edges.len();
        assert_eq!(unreach_call(&mut p, &names), first);
        assert_eq!((p.edges.len(), p.errors.len()), (edges, 1));
    }
}
