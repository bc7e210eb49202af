//! The property unreach-call: some functions are never called.

use cfa::{CType, Check, ErrorId, ErrorInfo, FuncId, HaltKind, Op, Out, Program, Var, VarKind};

/// The result of [`unreach_call`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UnreachCall {
    /// The functions whose calls are errors now, in the order of the requested names, then by id. Static functions of
    /// several translation units may share a name.
    pub errors: Vec<(FuncId, ErrorId)>,
    /// The requested names that no function of the program has.
    pub missing: Vec<String>,
}

/// Makes calls of the named functions errors.
///
/// The error edge precedes the body of the function. Every call reaches it, direct or through a pointer, whatever the
/// body is. A function whose entry is an error already does not change.
pub fn unreach_call(program: &mut Program, error_functions: &[String]) -> UnreachCall {
    let mut found = UnreachCall::default();
    for (i, name) in error_functions.iter().enumerate() {
        if error_functions[..i].contains(name) {
            continue;
        }
        let named: Vec<_> = program.funcs.iter().filter(|(_, f)| f.is_named(name)).map(|(id, _)| id).collect();
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
    let message = match &function.symbol {
        Some(symbol) => format!("{} (symbol {symbol}) is called", function.name),
        None => format!("{} is called", function.name),
    };
    let error = program.errors.push(ErrorInfo { check: Check::Call, message, place });
    let (entry, sink) = (program.add_location(func), program.add_location(func));
    program.add_edge(entry, Op::Error(error), sink, place);
    program.funcs[func].entry = entry;
    error
}

/// Restricts the errors to executions in which a global variable has a value at the call. Other calls of the error
/// functions end the execution like a false assumption. Returns false, and does not change the program, if there is no
/// such variable.
pub fn only_while(program: &mut Program, errors: &[(FuncId, ErrorId)], variable: &str, value: u64) -> bool {
    let var = program.vars.iter().find(|(_, v)| v.func().is_none() && v.name.as_deref() == Some(variable));
    let object = program.globals.iter().find(|(_, g)| g.name == variable);
    let (read, width) = match (var, object) {
        (Some((var, its)), _) => (Ok(var), its.width),
        (None, Some((object, its))) => (Err(object), 8 * its.size as u32),
        (None, None) => return false,
    };
    for &(func, _) in errors {
        let [entry, at, ended, sink] = [(); 4].map(|()| program.add_location(func));
        // The variable has no name, so traces omit it.
        let ty = program.types.push(CType::Int { name: "unsigned int".into(), width, signed: false });
        let temp = program.vars.push(Var { name: None, ty, width, kind: VarKind::Temp(func), place: None });
        let op = match read {
            Ok(var) => Op::Assign { var: temp, value: program.var_expr(var) },
            Err(object) => {
                Op::Load { var: temp, addr: program.exprs.global_addr(object, program.layout.pointer_width) }
            }
        };
        program.add_edge(entry, op, at, None);
        let (temp, value) = (program.var_expr(temp), program.exprs.int(width, value));
        let is_so = program.exprs.eq(temp, value);
        program.add_branch(at, is_so, program.funcs[func].entry, ended, None);
        program.add_edge(ended, Op::Halt(HaltKind::Assumed), sink, None);
        program.funcs[func].entry = entry;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use cfa::interp::{Inputs, Interpreter, Limits, Outcome};
    use cfa::{Callee, DataLayout};

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

    #[test]
    fn calls_at_another_time_are_no_errors() {
        for variable in ["var v0 \"n\" ty0 32 = 2:32", r#"global g0 "n" ty0 align 4 size 4 bytes "\x02""#] {
            for (value, expected) in [(2, true), (3, false)] {
                let text = format!(
                    "program 64 entry f0\ntype ty0 int \"unsigned int\" 32 unsigned\ntype ty1 void\n{variable}\n\
                     func f0 \"main\" source ty1 () entry l0 {{\n  l0: t0: call fail.f1 () -> l1\n  l1: t1: halt exit 0:32 -> l2\n  l2:\n}}\n\
                     func f1 \"fail\" source ty1 () entry l3 {{\n  l3: t2: return -> l4\n  l4:\n}}\n"
                );
                let mut p = cfa::text::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
                let found = unreach_call(&mut p, &["fail".to_owned()]);
                assert!(only_while(&mut p, &found.errors, "n", value));
                assert!(!only_while(&mut p.clone(), &found.errors, "m", value));
                cfa::validate::validate(&p).unwrap();
                let run = Interpreter::new(&p).run(&mut Inputs::default().source(), Limits::default(), &mut ());
                assert_eq!(
                    matches!(run.outcome, Outcome::Error(..)),
                    expected,
                    "{variable} {value}: {:?}",
                    run.outcome
                );
                assert!(expected || run.outcome == Outcome::Assumed);
            }
        }
    }
}
