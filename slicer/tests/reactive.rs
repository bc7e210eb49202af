//! Loops that only a criterion ends: the usual form of reactive programs.

use cfa::*;
use slicer::{Analysis, Criterion, Options, slice};

/// Straight-line code with branches, one location after the other.
struct Code {
    program: Program,
    int: TypeId,
    at: LocId,
}

impl Code {
    fn new() -> Self {
        let mut program = Program::new(DataLayout { pointer_width: 64 });
        let int = program.types.push(CType::Int { name: "int".into(), width: 32, signed: true });
        let at = program.funcs[program.entry].entry;
        Self { program, int, at }
    }
    fn global(&mut self, name: &str) -> VarId {
        let init = Some(self.program.exprs.int(32, 0));
        let kind = VarKind::Global { init };
        self.program.vars.push(Var { name: Some(name.into()), ty: self.int, width: 32, kind, place: None })
    }
    fn function(&mut self, name: &str) -> FuncId {
        self.program.add_function(name, self.int, None)
    }
    fn emit(&mut self, op: Op) -> EdgeId {
        let func = self.program.locs[self.at].func;
        let next = self.program.add_location(func);
        let edge = self.program.add_edge(self.at, op, next, None);
        self.at = next;
        edge
    }
    fn havoc(&mut self, var: VarId) -> EdgeId {
        let kind = InputKind::Nondet("__VERIFIER_nondet_int".into());
        let input = self.program.inputs.push(Input { kind, ty: self.int, width: 32, place: None });
        self.emit(Op::Havoc { var, input })
    }
    /// `var = var + by`
    fn add(&mut self, var: VarId, by: u64) -> EdgeId {
        let (x, y) = (self.program.var_expr(var), self.program.exprs.int(32, by));
        let value = self.program.exprs.add(x, y);
        self.emit(Op::Assign { var, value })
    }
    /// `if (var == value) error();` with what happens there.
    fn error_if(&mut self, var: VarId, value: u64) -> EdgeId {
        let (x, y) = (self.program.var_expr(var), self.program.exprs.int(32, value));
        let cond = self.program.exprs.eq(x, y);
        let func = self.program.locs[self.at].func;
        let (bad, good) = (self.program.add_location(func), self.program.add_location(func));
        self.program.add_branch(self.at, cond, bad, good, None);
        let error = self.program.errors.push(ErrorInfo {
            property: "unreach-call".into(),
            message: "reach_error is called".into(),
            place: None,
        });
        self.at = bad;
        let edge = self.emit(Op::Error(error));
        self.at = good;
        edge
    }
    fn back_to(&mut self, head: LocId) {
        self.program.add_edge(self.at, Op::Skip, head, None);
    }
}

#[test]
fn an_error_in_an_endless_loop_depends_on_its_condition() {
    let mut c = Code::new();
    let (mode, other) = (c.global("mode"), c.global("other"));
    let head = c.at;
    let input = c.havoc(mode);
    let unrelated = c.add(other, 3);
    let error = c.error_if(mode, 7);
    let step = c.add(mode, 1);
    c.back_to(head);
    let slice = slice(&c.program, &[error], &Options::default()).expect("there is a criterion");
    let kept = |e: EdgeId| slice.kept[e.index()];
    assert!(kept(input) && kept(error) && !kept(unrelated), "{}", cfa::text::print(&slice.program));
    assert!(!kept(step), "overwritten before it is used");
}

#[test]
fn an_error_in_a_function_called_for_ever_depends_on_its_condition() {
    let mut c = Code::new();
    let mode = c.global("mode");
    let step = c.function("step");
    let head = c.at;
    let input = c.havoc(mode);
    let call = c.emit(Op::Call { callee: Callee::Direct(step), args: [].into(), varargs: None, result: None });
    c.back_to(head);
    c.at = c.program.funcs[step].entry;
    let error = c.error_if(mode, 7);
    c.emit(Op::Return { value: None });
    let slice = slice(&c.program, &[error], &Options::default()).expect("there is a criterion");
    assert!(slice.kept[input.index()] && slice.kept[call.index()], "{}", cfa::text::print(&slice.program));
    let branches = slice.program.edges.values().filter(|e| matches!(e.op, Op::Assume { .. })).count();
    assert_eq!(branches, 2);
}

/// What comes after a loop with another exit does not depend on the loop, though the program ends in `exit`.
#[test]
fn loops_that_can_end_are_taken_to() {
    let mut c = Code::new();
    let (i, x) = (c.global("i"), c.global("x"));
    let head = c.at;
    let func = c.program.entry;
    let (body, exit) = (c.program.add_location(func), c.program.add_location(func));
    let (e, ten) = (c.program.var_expr(i), c.program.exprs.int(32, 10));
    let cond = c.program.exprs.slt(e, ten);
    c.program.add_branch(head, cond, body, exit, None);
    c.at = body;
    let step = c.add(i, 1);
    c.back_to(head);
    c.at = exit;
    let set = c.add(x, 1);
    let error = c.error_if(x, 7);
    let status = c.program.exprs.int(32, 0);
    c.emit(Op::Halt(HaltKind::Exit(status)));
    for (control, loop_kept) in [(slicer::Control::Standard, false), (slicer::Control::NonTermination, true)] {
        let criteria = [Criterion::operation(error)];
        let options = Options { control, ..Options::default() };
        let slice = Analysis::new(&c.program, &criteria, &options).expect("there is time").slice(&criteria);
        assert!(slice.kept[set.index()]);
        assert_eq!(slice.kept[step.index()], loop_kept, "{control:?} {}", cfa::text::print(&slice.program));
    }
}
