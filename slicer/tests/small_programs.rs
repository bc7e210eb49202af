//! Tests slices of small programs, operation by operation.

use cfa::*;
use slicer::{Analysis, Criterion, Options, Slice, Value, pointer, slice};

/// A builder of straight-line code with branches, one location after the other.
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
        let kind = VarKind::Global { init, is_static: false };
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
    /// Emits `var = var + by`.
    fn add(&mut self, var: VarId, by: u64) -> EdgeId {
        let (x, y) = (self.program.var_expr(var), self.program.exprs.int(32, by));
        let value = self.program.exprs.add(x, y);
        self.emit(Op::Assign { var, value })
    }
    /// Emits `if (var == value) error();` and returns the error edge.
    fn error_if(&mut self, var: VarId, value: u64) -> EdgeId {
        let (x, y) = (self.program.var_expr(var), self.program.exprs.int(32, value));
        let cond = self.program.exprs.eq(x, y);
        let func = self.program.locs[self.at].func;
        let (bad, good) = (self.program.add_location(func), self.program.add_location(func));
        self.program.add_branch(self.at, cond, bad, good, None);
        let error = self.program.errors.push(ErrorInfo {
            check: cfa::Check::Call,
            message: "reach_error is called".into(),
            place: None,
        });
        self.at = bad;
        let edge = self.emit(Op::Error(error));
        self.at = good;
        edge
    }
    fn call(&mut self, f: FuncId, args: &[ExprId]) -> EdgeId {
        self.emit(Op::Call { callee: Callee::Direct(f), args: args.into(), varargs: None, result: None })
    }
    /// A function without a body, with one parameter, a pointer.
    fn undefined(&mut self, name: &str) -> FuncId {
        let f = self.function(name);
        self.program.funcs[f].origin = FunctionOrigin::Undefined;
        let kind = VarKind::Param(f);
        let param = self.program.vars.push(Var { name: None, ty: self.int, width: 64, kind, place: None });
        self.program.funcs[f].params.push(param);
        let reason = format!("call of undefined function '{name}'");
        let taint = self.program.taints.push(Taint { reason, place: None, over: true, under: true });
        let here = std::mem::replace(&mut self.at, self.program.funcs[f].entry);
        self.emit(Op::Approx { taint });
        self.emit(Op::Return { value: None });
        self.at = here;
        f
    }
    /// A global object of 4 bytes, zero.
    fn object(&mut self, name: &str) -> (GlobalId, ExprId) {
        let init = Some(GlobalInit::default());
        let g = self.program.globals.push(Global {
            name: name.into(),
            ty: self.int,
            size: 4,
            align: 4,
            read_only: false,
            is_static: false,
            init,
            place: None,
        });
        (g, self.program.exprs.global_addr(g, 64))
    }
    fn end(&mut self) -> EdgeId {
        let status = self.program.exprs.int(32, 0);
        self.emit(Op::Halt(HaltKind::Exit(status)))
    }
    fn slice(&self, criterion: Criterion, options: Options) -> Slice {
        let criteria = [criterion];
        Analysis::new(&self.program, &criteria, &options).expect("there is time").slice(&criteria)
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

/// The code after a loop with another exit does not depend on the loop, although the program may end in `exit`.
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
    let end = c.end();
    let at_end = c.slice(Criterion::value(end, Value::Var(x)), Options::default());
    assert!(at_end.kept[set.index()] && !at_end.kept[step.index()]);
    let there = c.slice(Criterion::operation(set), Options::default());
    assert!(there.kept[set.index()] && !there.kept[step.index()]);
    for (control, loop_kept) in [(slicer::Control::Standard, false), (slicer::Control::NonTermination, true)] {
        let criteria = [Criterion::operation(error)];
        let options = Options { control, ..Options::default() };
        let slice = Analysis::new(&c.program, &criteria, &options).expect("there is time").slice(&criteria);
        assert!(slice.kept[set.index()]);
        assert_eq!(slice.kept[step.index()], loop_kept, "{control:?} {}", cfa::text::print(&slice.program));
    }
}

/// An omitted assumption does not bring the value into the slice that it depends on.
#[test]
fn optional_assumptions_are_omitted() {
    let mut c = Code::new();
    let (x, y) = (c.global("x"), c.global("y"));
    let needed = c.havoc(x);
    let unneeded = c.havoc(y);
    let func = c.program.entry;
    let (e, zero) = (c.program.var_expr(y), c.program.exprs.int(32, 0));
    let is_zero = c.program.exprs.eq(e, zero);
    let (source, ended, sink, next) =
        (c.at, c.program.add_location(func), c.program.add_location(func), c.program.add_location(func));
    c.program.add_branch(source, is_zero, ended, next, None);
    c.program.add_edge(ended, Op::Halt(HaltKind::Assumed), sink, None);
    c.program.relax(source);
    c.at = next;
    let error = c.error_if(x, 7);
    c.end();
    for (omit_assumptions, control, omitted) in [
        (true, slicer::Control::Standard, true),
        (false, slicer::Control::Standard, false),
        (true, slicer::Control::NonTermination, false),
    ] {
        let slice = c.slice(Criterion::operation(error), Options { omit_assumptions, control, ..Options::default() });
        assert!(slice.kept[needed.index()]);
        assert_eq!(slice.kept[unneeded.index()], !omitted, "{}", cfa::text::print(&slice.program));
        let branches = slice.program.edges.values().filter(|e| matches!(e.op, Op::Assume { .. })).count();
        assert_eq!(branches, if omitted { 2 } else { 4 });
    }
}

/// The policy determines how undefined functions use pointers.
#[test]
fn undefined_functions_write_what_they_are_given() {
    let mut c = Code::new();
    let v = c.global("v");
    let ((_, x), (_, y)) = (c.object("x"), c.object("y"));
    let one = c.program.exprs.int(32, 1);
    let f = c.undefined("f");
    let set_x = c.emit(Op::Store { addr: x, value: one });
    let set_y = c.emit(Op::Store { addr: y, value: one });
    let call = c.call(f, &[x]);
    c.emit(Op::Load { var: v, addr: x });
    let error = c.error_if(v, 2);
    c.end();
    for sound in [false, true] {
        let undefined = if sound { pointer::Undefined::SOUND } else { pointer::Undefined::default() };
        let points_to = pointer::Options { undefined, ..pointer::Options::default() };
        let options = Options { points_to, keep_under_approximations: false, ..Options::default() };
        let slice = c.slice(Criterion::operation(error), options);
        assert_eq!(slice.kept[call.index()], sound);
        assert!(slice.kept[set_x.index()] && !slice.kept[set_y.index()]);
    }
}

#[test]
fn undefined_functions_call_what_they_are_given() {
    let mut c = Code::new();
    let g = c.global("g");
    let callback = c.function("callback");
    let f = c.undefined("f");
    let address = c.program.exprs.func_addr(callback, 64);
    let call = c.call(f, &[address]);
    let error = c.error_if(g, 1);
    c.end();
    c.at = c.program.funcs[callback].entry;
    let set = c.add(g, 1);
    c.emit(Op::Return { value: None });
    let points_to = pointer::Options { undefined: pointer::Undefined::SOUND, ..pointer::Options::default() };
    let options = Options { points_to, keep_under_approximations: false, ..Options::default() };
    let slice = c.slice(Criterion::operation(error), options);
    assert!(slice.kept[call.index()] && slice.kept[set.index()], "{}", cfa::text::print(&slice.program));
}

#[test]
fn preserved_functions_are_kept_whole_and_calls_of_atomic_ones_take_all() {
    let mut c = Code::new();
    let (a, b, unused) = (c.global("a"), c.global("b"), c.global("unused"));
    let f = c.function("f");
    let before = c.add(b, 7);
    let call = c.call(f, &[]);
    let error = c.error_if(a, 1);
    c.end();
    c.at = c.program.funcs[f].entry;
    let needed = c.add(a, 1);
    let other = c.add(b, 1);
    c.emit(Op::Return { value: None });
    let keeps = |options: Options, edges: [EdgeId; 4]| {
        let slice = c.slice(Criterion::operation(error), options);
        edges.map(|e| slice.kept[e.index()])
    };
    let edges = [needed, call, other, before];
    assert_eq!(keeps(Options::default(), edges), [true, true, false, false]);
    assert_eq!(keeps(Options { preserved: vec![f], ..Options::default() }, edges), [true, true, true, true]);
    let atomic = keeps(Options { atomic: vec![f], ..Options::default() }, edges);
    assert!(atomic[1] && atomic[3]);
    let _ = unused;
}

/// Values of a global at the end and at all locations.
#[test]
fn values_can_be_criteria() {
    let mut c = Code::new();
    let (a, b) = (c.global("a"), c.global("b"));
    let (object, x) = c.object("x");
    let one = c.program.exprs.int(32, 1);
    let set_a = c.add(a, 1);
    let set_b = c.add(b, 1);
    let first = c.emit(Op::Store { addr: x, value: one });
    let second = c.emit(Op::Store { addr: x, value: one });
    let end = c.end();
    let kept = |criterion: Criterion| {
        let slice = c.slice(criterion, Options::default());
        [set_a, set_b, first, second].map(|e| slice.kept[e.index()])
    };
    assert_eq!(kept(Criterion::value(end, Value::Var(a))), [true, false, false, false]);
    assert_eq!(kept(Criterion::value(end, Value::Global(object))), [false, false, false, true]);
    assert_eq!(kept(Criterion::value(second, Value::Global(object))), [false, false, true, false]);
    assert_eq!(kept(Criterion::reached(end)), [false; 4]);
    let analysis = Analysis::new(&c.program, &[], &Options { cut_off: false, ..Options::default() }).expect("time");
    assert_eq!(analysis.accesses(Value::Global(object)), (vec![first, second], vec![]));
    assert_eq!(analysis.accesses(Value::Var(b)), (vec![set_b], vec![set_b]));
}

/// A function without operations in the slice still ends the program.
#[test]
fn calls_that_never_return_do_not_return_in_the_slice() {
    let mut c = Code::new();
    let (a, b) = (c.global("a"), c.global("b"));
    let give_up = c.function("give_up");
    let input = c.havoc(a);
    let (e, three) = (c.program.var_expr(a), c.program.exprs.int(32, 3));
    let cond = c.program.exprs.eq(e, three);
    let func = c.program.entry;
    let (bad, good) = (c.program.add_location(func), c.program.add_location(func));
    c.program.add_branch(c.at, cond, bad, good, None);
    c.at = bad;
    let call = c.call(give_up, &[]);
    c.back_to(good);
    c.at = good;
    let set = c.add(b, 1);
    let end = c.end();
    c.at = c.program.funcs[give_up].entry;
    c.add(b, 5);
    c.end();
    for cut_off in [false, true] {
        let criterion = Criterion::value(end, Value::Var(b));
        let slice = c.slice(criterion, Options { cut_off, ..Options::default() });
        let kept = |e: EdgeId| slice.kept[e.index()];
        assert!(kept(input) && kept(set));
        struct Threes;
        impl cfa::interp::InputSource for Threes {
            fn unknown(&mut self, _: cfa::interp::Unknown, width: u32) -> Bv {
                Bv::new(width, 3)
            }
        }
        // If paths are not cut off, `give_up` may end in an endless loop. In no case does the slice reach the
        // criterion.
        struct Hit<'a>(&'a Slice, EdgeId, bool);
        impl cfa::interp::Observer for Hit<'_> {
            fn executed(&mut self, edge: EdgeId, _: &cfa::interp::State) {
                self.2 |= self.0.original[edge] == Some(self.1);
            }
        }
        let mut hit = Hit(&slice, end, false);
        let limits = cfa::interp::Limits { steps: 1000, ..cfa::interp::Limits::default() };
        cfa::interp::Interpreter::new(&slice.program).run(&mut Threes, limits, &mut hit);
        assert!(!hit.2, "{} {}", kept(call), cfa::text::print(&slice.program));
    }
}
