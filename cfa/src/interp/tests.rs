//! Hand-written programs with one or a few operations each.

mod expressions;
mod faults;

use super::*;
use crate::check::Check;
use crate::expr::{BinOp, ExprPool, UnOp};
use crate::float::{FBinOp, FCmp, FUnOp, FloatFormat, Rounding};
use proptest::prelude::*;

/// Builds the entry function edge by edge.
struct Build {
    p: Program,
    loc: LocId,
    ty: TypeId,
}

fn build(pointer_width: u32) -> Build {
    let mut p = Program::new(DataLayout { pointer_width });
    let ty = p.types.push(CType::Unknown { width: 32 });
    let loc = p.funcs[p.entry].entry;
    Build { p, loc, ty }
}

impl Build {
    fn var_of(&mut self, width: u32, kind: VarKind) -> VarId {
        self.p.vars.push(Var { name: None, ty: self.ty, width, kind, place: None })
    }
    fn var(&mut self, width: u32) -> VarId {
        let func = self.p.locs[self.loc].func;
        self.var_of(width, VarKind::Local(func))
    }
    fn get(&mut self, var: VarId) -> ExprId {
        self.p.var_expr(var)
    }
    fn int(&mut self, width: u32, value: u64) -> ExprId {
        self.p.exprs.int(width, value)
    }
    fn ptr(&mut self, value: u64) -> ExprId {
        self.int(self.p.layout.pointer_width, value)
    }
    fn op(&mut self, op: Op) -> EdgeId {
        let target = self.p.add_location(self.p.locs[self.loc].func);
        let edge = self.p.add_edge(self.loc, op, target, None);
        self.loc = target;
        edge
    }
    fn assign(&mut self, var: VarId, value: ExprId) {
        self.op(Op::Assign { var, value });
    }
    fn exit(&mut self, code: ExprId) {
        let code = self.p.exprs.resize(32, code);
        self.op(Op::Halt(HaltKind::Exit(code)));
    }
    fn alloc(&mut self, size: u64, kind: AllocKind) -> ExprId {
        let var = self.var(self.p.layout.pointer_width);
        let size = self.ptr(size);
        self.op(Op::Alloc { var, size, align: 8, kind, zeroed: false });
        self.get(var)
    }
    fn at(&mut self, ptr: ExprId, offset: i64) -> ExprId {
        let offset = self.ptr(offset as u64);
        self.p.exprs.add(ptr, offset)
    }
    fn store(&mut self, addr: ExprId, width: u32, value: u64) -> EdgeId {
        let value = self.int(width, value);
        self.op(Op::Store { addr, value })
    }
    fn load(&mut self, addr: ExprId, width: u32) -> ExprId {
        let var = self.var(width);
        self.op(Op::Load { var, addr });
        self.get(var)
    }
    fn havoc(&mut self, width: u32) -> ExprId {
        let var = self.var(width);
        let kind = InputKind::Nondet("__VERIFIER_nondet_int".into());
        let input = self.p.inputs.push(Input { kind, ty: self.ty, width, place: None });
        self.op(Op::Havoc { var, input });
        self.get(var)
    }
    /// Builds a function. `then` builds its body. Afterwards the builder continues in the previous function.
    fn function(
        &mut self,
        params: &[u32],
        result: Option<u32>,
        body: impl FnOnce(&mut Self, &[ExprId], FuncId),
    ) -> FuncId {
        let func = self.p.add_function("f", self.ty, result);
        let old = std::mem::replace(&mut self.loc, self.p.funcs[func].entry);
        let params: Vec<VarId> = params.iter().map(|&w| self.var_of(w, VarKind::Param(func))).collect();
        self.p.funcs[func].params = params.clone();
        let params: Vec<ExprId> = params.into_iter().map(|v| self.get(v)).collect();
        body(self, &params, func);
        self.loc = old;
        func
    }
    fn call(&mut self, callee: Callee, args: &[ExprId], result: Option<VarId>) -> EdgeId {
        self.op(Op::Call { callee, args: args.into(), varargs: None, result })
    }
    fn run(&self) -> Outcome {
        self.run_with(&Inputs::default(), Limits::default()).outcome
    }
    fn run_with(&self, inputs: &Inputs, limits: Limits) -> Run {
        Interpreter::new(&self.p).run(&mut inputs.source(), limits, &mut ())
    }
    fn fault(&self) -> Fault {
        match self.run() {
            Outcome::Invalid { fault, .. } => fault,
            other => panic!("{other:?}"),
        }
    }
}

/// `for (i = 0, s = 0; i < n; i++) s += i; exit(s)` with `n` an input.
fn sum_loop() -> Build {
    let mut b = build(64);
    let n = b.havoc(32);
    let (i, s) = (b.var(32), b.var(32));
    let zero = b.int(32, 0);
    b.assign(i, zero);
    b.assign(s, zero);
    let head = b.loc;
    let (ie, se, one) = (b.get(i), b.get(s), b.int(32, 1));
    let cond = b.p.exprs.slt(ie, n);
    let (body, after) = (b.p.add_location(b.p.entry), b.p.add_location(b.p.entry));
    b.p.add_branch(head, cond, body, after, None);
    b.loc = body;
    let sum = b.p.exprs.add(se, ie);
    b.assign(s, sum);
    let next = b.p.exprs.add(ie, one);
    b.p.add_edge(b.loc, Op::Assign { var: i, value: next }, head, None);
    b.loc = after;
    b.exit(se);
    b
}

#[test]
fn loops_and_inputs() {
    let b = sum_loop();
    for n in [0u64, 1, 10, 1000] {
        let inputs = Inputs { values: vec![Bv::new(32, n)], ..Inputs::default() };
        let run = b.run_with(&inputs, Limits::default());
        assert_eq!(run.outcome, Outcome::Exit((n * n.saturating_sub(1) / 2) as i32));
        assert_eq!(run.steps, 3 + 3 * n + 2);
    }
    // Further values are 0.
    assert_eq!(b.run(), Outcome::Exit(0));
}

#[test]
fn observers_see_the_state_after_each_edge() {
    struct Sums(VarId, Vec<u64>);
    impl Observer for Sums {
        fn executed(&mut self, edge: EdgeId, state: &State) {
            if state.program().edges[edge].op.def() == Some(self.0) {
                self.1.push(state.var(self.0).unwrap().to_u64().unwrap());
            }
        }
    }
    let b = sum_loop();
    let mut sums = Sums(VarId(2), Vec::new());
    let inputs = Inputs { values: vec![Bv::new(32, 5)], ..Inputs::default() };
    Interpreter::new(&b.p).run(&mut inputs.source(), Limits::default(), &mut sums);
    assert_eq!(sums.1, [0, 0, 1, 3, 6, 10]);
}

#[test]
fn limits_end_runs() {
    let b = sum_loop();
    let inputs = Inputs { values: vec![Bv::new(32, 1 << 30)], ..Inputs::default() };
    let run = b.run_with(&inputs, Limits { steps: 100_000, ..Limits::default() });
    assert_eq!((run.outcome, run.steps), (Outcome::Limit(LimitKind::Steps), 100_000));
    let run = b.run_with(&inputs, Limits { deadline: Some(Instant::now()), ..Limits::default() });
    assert_eq!(run.outcome, Outcome::Limit(LimitKind::Time));

    let mut b = build(64);
    let p = b.alloc(1 << 40, AllocKind::MALLOC);
    let far = b.at(p, (1 << 40) - 4);
    b.store(far, 32, 77);
    let x = b.load(far, 32);
    let (byte, len) = (b.int(8, 1), b.ptr(1 << 39));
    let mut c = Build { p: b.p.clone(), ..b };
    c.exit(x);
    assert_eq!(c.run(), Outcome::Exit(77));
    b.op(Op::Fill { dst: p, byte, len });
    assert_eq!(b.run(), Outcome::Limit(LimitKind::Memory));
    let run = b.run_with(&Inputs::default(), Limits { memory: 1000, ..Limits::default() });
    assert_eq!((run.outcome, run.steps), (Outcome::Limit(LimitKind::Memory), 1));
}

#[test]
fn runs_that_come_to_the_same_state_are_seen_to_go_on_for_ever() {
    // `while (x != 7) body`.
    let endless = |body: &dyn Fn(&mut Build, VarId)| {
        let mut b = build(64);
        let x = b.var(32);
        let zero = b.int(32, 0);
        b.assign(x, zero);
        let head = b.loc;
        let (value, seven) = (b.get(x), b.int(32, 7));
        let cond = b.p.exprs.ne(value, seven);
        let (inside, after) = (b.p.add_location(b.p.entry), b.p.add_location(b.p.entry));
        b.p.add_branch(head, cond, inside, after, None);
        b.loc = inside;
        body(&mut b, x);
        b.p.add_edge(b.loc, Op::Skip, head, None);
        b.loc = after;
        b.exit(value);
        b
    };
    let limits = |endless| Limits { steps: 1 << 19, endless, ..Limits::default() };
    let ends = |b: &Build| {
        let inputs = Inputs { values: vec![Bv::new(32, 1); 1 << 18], ..Inputs::default() };
        b.run_with(&inputs, limits(Endless::Ends))
    };
    // Nothing changes, or the change recurs after seven iterations.
    let nothing = endless(&|_, _| {});
    let run = ends(&nothing);
    assert_eq!(run.outcome, Outcome::Limit(LimitKind::Endless));
    assert!(run.steps < (1 << 16) + 8, "{}", run.steps);
    let goes_on = nothing.run_with(&Inputs::default(), limits(Endless::GoesOn));
    assert_eq!((goes_on.outcome, goes_on.steps), (Outcome::Limit(LimitKind::Steps), 1 << 19));
    let round = endless(&|b, x| {
        let (value, one, six) = (b.get(x), b.int(32, 1), b.int(32, 6));
        let more = b.p.exprs.add(value, one);
        let is_last = b.p.exprs.eq(value, six);
        let zero = b.int(32, 0);
        let next = b.p.exprs.ite(is_last, zero, more);
        b.assign(x, next);
    });
    assert_eq!(ends(&round).outcome, Outcome::Limit(LimitKind::Endless));
    // A counter, an input, and a write to memory.
    let counts = endless(&|b, x| {
        let (value, two) = (b.get(x), b.int(32, 2));
        let more = b.p.exprs.add(value, two);
        b.assign(x, more);
    });
    assert_eq!(ends(&counts).outcome, Outcome::Limit(LimitKind::Steps));
    let asks = endless(&|b, x| {
        let input = b.havoc(32);
        b.assign(x, input);
    });
    assert_eq!(ends(&asks).outcome, Outcome::Limit(LimitKind::Steps));
    let writes = endless(&|b, _| {
        let p = b.alloc(4, AllocKind::MALLOC);
        b.store(p, 32, 5);
    });
    assert_eq!(ends(&writes).outcome, Outcome::Limit(LimitKind::Steps));
}

#[test]
fn memory_is_little_endian_bytes() {
    let mut b = build(32);
    let p = b.alloc(64, AllocKind::Stack);
    b.store(p, 64, 0x1122_3344_5566_7788);
    let odd = b.at(p, 3);
    b.store(odd, 16, 0xaabb);
    let word = b.load(p, 64);
    let three = b.at(p, 5);
    let narrow = b.load(three, 20);
    // Stores of odd widths clear the bits above.
    let p8 = b.at(p, 8);
    b.store(p8, 32, 0xffff_ffff);
    b.store(p8, 9, 0x1ff);
    let odd = b.load(p8, 32);
    // Wide values.
    let (wide, p16) = (b.p.exprs.constant(Bv::from_u128(128, u128::MAX - 5)), b.at(p, 16));
    b.op(Op::Store { addr: p16, value: wide });
    let back = b.load(p16, 128);
    let p24 = b.at(p, 24);
    let part = b.load(p24, 80);
    let end = b.var(1);
    let zero = b.int(1, 0);
    b.assign(end, zero);
    b.exit(zero);

    struct Look(Vec<(ExprId, Bv)>);
    impl Observer for Look {
        fn executed(&mut self, edge: EdgeId, state: &State) {
            if let Op::Halt(_) = state.program().edges[edge].op {
                for (e, value) in &self.0 {
                    assert_eq!(state.eval(*e), *value);
                }
                self.0.clear();
            }
        }
    }
    let mut look = Look(vec![
        (word, Bv::new(64, 0x1122_33aa_bb66_7788)),
        (narrow, Bv::new(20, 0x1_2233)),
        (odd, Bv::new(32, 0xffff_01ff)),
        (back, Bv::from_u128(128, u128::MAX - 5)),
        (part, Bv::new(64, u64::MAX).zext(80)),
    ]);
    let run = Interpreter::new(&b.p).run(&mut Inputs::default().source(), Limits::default(), &mut look);
    assert_eq!(run.outcome, Outcome::Exit(0));
    assert!(look.0.is_empty());
}

#[test]
fn copies_overlap_and_cross_pages() {
    // From a flat object to the middle of a paged one, within the paged one with overlap, and back.
    let mut b = build(64);
    let small = b.alloc(200_000, AllocKind::MALLOC);
    let big = b.alloc(3 << 20, AllocKind::MALLOC);
    let (byte, len) = (b.int(8, 7), b.ptr(200_000));
    b.op(Op::Fill { dst: small, byte, len });
    b.store(small, 8, 9);
    let middle = b.at(big, 1_000_003);
    b.op(Op::Copy { dst: middle, src: small, len });
    let later = b.at(big, 1_000_004);
    b.op(Op::Copy { dst: later, src: middle, len });
    b.op(Op::Copy { dst: small, src: later, len });
    let after = b.at(small, 1);
    let ten = b.ptr(10);
    b.op(Op::Copy { dst: after, src: small, len: ten });
    // small: 9 9 7 7 ...
    let x = b.load(small, 24);
    b.exit(x);
    assert_eq!(b.run(), Outcome::Exit(0x07_0909));
}

#[test]
fn halts_errors_and_taints() {
    for (kind, outcome) in [
        (HaltKind::Abort, Outcome::Abort),
        (HaltKind::Assumed, Outcome::Assumed),
        (HaltKind::Unreachable, Outcome::Unreachable),
    ] {
        let mut b = build(64);
        b.op(Op::Halt(kind));
        assert_eq!(b.run(), outcome);
    }
    let mut b = build(64);
    let taint = b.p.taints.push(Taint { reason: "t".into(), place: None, over: true, under: false });
    b.op(Op::Approx { taint });
    b.op(Op::Skip);
    b.op(Op::Approx { taint });
    let info = ErrorInfo { check: Check::Call, message: "m".into(), place: None };
    let error = b.p.errors.push(info);
    let edge = b.op(Op::Error(error));
    let run = b.run_with(&Inputs::default(), Limits::default());
    assert_eq!(
        run,
        Run {
            outcome: Outcome::Error(error, edge),
            steps: 4,
            taints: vec![taint],
            allocs: 0,
            live_heap: 0,
            stack: vec![],
            accessed: 0,
            object: None,
            race: None,
            has_undecided_leak: false,
        }
    );

    let mut b = build(64);
    b.op(Op::Skip);
    assert_eq!(b.run(), Outcome::Stuck(b.loc));
    let mut b = build(64);
    b.op(Op::Return { value: None });
    assert_eq!(b.run(), Outcome::Exit(0));
}

/// `f(n) = n == 0 ? 0 : f(n - 1) + 1`.
fn recursion() -> Build {
    let mut b = build(64);
    let f = b.function(&[32], Some(32), |b, params, f| {
        let (zero, one, n) = (b.int(32, 0), b.int(32, 1), params[0]);
        let cond = b.p.exprs.eq(n, zero);
        let (base, step) = (b.p.add_location(f), b.p.add_location(f));
        b.p.add_branch(b.loc, cond, base, step, None);
        b.loc = base;
        b.op(Op::Return { value: Some(zero) });
        b.loc = step;
        let r = b.var(32);
        let less = b.p.exprs.sub(n, one);
        b.call(Callee::Direct(f), &[less], Some(r));
        let r = b.get(r);
        let sum = b.p.exprs.add(r, one);
        b.op(Op::Return { value: Some(sum) });
    });
    let n = b.havoc(32);
    let r = b.var(32);
    b.call(Callee::Direct(f), &[n], Some(r));
    let r = b.get(r);
    b.exit(r);
    b
}

#[test]
fn recursion_takes_no_stack() {
    let b = recursion();
    let inputs = Inputs { values: vec![Bv::new(32, 1_000_000)], ..Inputs::default() };
    let limits = Limits { call_depth: 2_000_000, ..Limits::default() };
    assert_eq!(b.run_with(&inputs, limits).outcome, Outcome::Exit(1_000_000));
    assert_eq!(b.run_with(&inputs, Limits::default()).outcome, Outcome::Limit(LimitKind::CallDepth));
}

#[test]
fn calls_fit_arguments_and_results() {
    let mut b = build(64);
    // f(8 bits, 128 bits, 32 bits) called with (32 bits, 16 bits): truncated, extended, unknown.
    let f = b.function(&[8, 128, 32], Some(128), |b, params, _| {
        let first = b.p.exprs.zext(128, params[0]);
        let third = b.p.exprs.zext(128, params[2]);
        let sum = b.p.exprs.add(first, params[1]);
        let sum = b.p.exprs.add(sum, third);
        b.op(Op::Return { value: Some(sum) });
    });
    let g = b.function(&[], None, |b, _, _| {
        b.op(Op::Return { value: None });
    });
    let (x, y) = (b.int(32, 0x1234), b.int(16, 0x100));
    let (r, s) = (b.var(16), b.var(80));
    let address = b.p.exprs.func_addr(f, 64);
    b.call(Callee::Indirect(address), &[x, y], Some(r));
    b.call(Callee::Direct(g), &[x], Some(s));
    let (r, s) = (b.get(r), b.get(s));
    let (r, s) = (b.p.exprs.zext(32, r), b.p.exprs.resize(32, s));
    let sum = b.p.exprs.add(r, s);
    b.exit(sum);
    let inputs = Inputs { values: vec![Bv::new(32, 3), Bv::new(80, 1000)], ..Inputs::default() };
    assert_eq!(b.run_with(&inputs, Limits::default()).outcome, Outcome::Exit(0x34 + 0x100 + 3 + 1000));

    // Variadic: the block's address, or 0.
    let mut b = build(64);
    let f = b.function(&[], Some(64), |b, _, f| {
        let block = b.var_of(64, VarKind::Param(f));
        b.p.funcs[f].varargs = Some(block);
        let block = b.get(block);
        b.op(Op::Return { value: Some(block) });
    });
    let (r, s, block) = (b.var(64), b.var(64), b.ptr(40));
    b.op(Op::Call { callee: Callee::Direct(f), args: [].into(), varargs: Some(block), result: Some(r) });
    b.call(Callee::Direct(f), &[], Some(s));
    let (r, s) = (b.get(r), b.get(s));
    let sum = b.p.exprs.add(r, s);
    b.exit(sum);
    assert_eq!(b.run(), Outcome::Exit(40));
}

#[test]
fn globals() {
    let mut b = build(32);
    let ty = b.ty;
    let mut global = |init, size| {
        b.p.globals.push(Global {
            name: "g".into(),
            ty,
            size,
            align: 4,
            read_only: false,
            is_static: false,
            init,
            place: None,
        })
    };
    let target = global(Some(GlobalInit { bytes: vec![0, 0, 0, 0, 42], pointers: vec![] }), 8);
    let pointer = global(None, 8);
    let unknown = global(None, 4);
    let target_addr = b.p.exprs.global_addr(target, 32);
    let inner = b.at(target_addr, 4);
    b.p.globals[pointer].init = Some(GlobalInit { bytes: vec![1], pointers: vec![(4, inner)] });
    let scalar = b.var_of(32, VarKind::Global { init: Some(inner), is_static: false });
    let outside = b.var_of(16, VarKind::Global { init: None, is_static: false });
    let pointer = b.p.exprs.global_addr(pointer, 32);
    let slot = b.at(pointer, 4);
    let p = b.load(slot, 32);
    let same = {
        let s = b.get(scalar);
        b.p.exprs.eq(p, s)
    };
    let value = b.load(p, 32);
    let unknown_addr = b.p.exprs.global_addr(unknown, 32);
    let unknown_value = b.load(unknown_addr, 32);
    let outside_value = b.get(outside);
    let outside_value = b.p.exprs.zext(32, outside_value);
    let same = b.p.exprs.zext(32, same);
    let mut sum = b.p.exprs.add(value, same);
    sum = b.p.exprs.add(sum, unknown_value);
    sum = b.p.exprs.add(sum, outside_value);
    b.exit(sum);
    assert_eq!(b.run(), Outcome::Exit(43));
    let inputs = Inputs {
        globals: [(outside, Bv::new(16, 100))].into(),
        bytes: [((ObjectSeq::Global(unknown), 1), 1)].into(),
        ..Inputs::default()
    };
    assert_eq!(b.run_with(&inputs, Limits::default()).outcome, Outcome::Exit(43 + 100 + 256));
}

#[test]
fn chosen_bytes_and_bases() {
    let mut b = build(64);
    let p = b.alloc(16, AllocKind::MALLOC);
    let q = b.alloc(2 << 20, AllocKind::MALLOC);
    let far = b.at(q, 1_000_000);
    let (x, y) = (b.load(p, 16), b.load(far, 16));
    let low = b.p.exprs.extract(15, 0, q);
    let sum = b.p.exprs.add(x, y);
    let sum = b.p.exprs.add(sum, low);
    b.exit(sum);
    let mut inputs = Inputs::default();
    inputs.bytes.insert((ObjectSeq::Alloc(0), 1), 1);
    inputs.bytes.insert((ObjectSeq::Alloc(1), 1_000_000), 2);
    inputs.bytes.insert((ObjectSeq::Alloc(1), 7), 2);
    inputs.bases.insert(ObjectSeq::Alloc(1), 0x5000_0008);
    assert_eq!(b.run_with(&inputs, Limits::default()).outcome, Outcome::Exit(256 + 2 + 8));
    let interpreter = Interpreter::new(&b.p);
    let mut recording = Recording::new(inputs.source());
    interpreter.run(&mut recording, Limits::default(), &mut ());
    let recorded = recording.inputs;
    inputs.bytes.retain(|_, byte| *byte != 0);
    assert_eq!(recorded.bases, inputs.bases);
    assert_eq!(b.run_with(&recorded, Limits::default()).outcome, Outcome::Exit(256 + 2 + 8));

    for bad in [0, 4, 0x5000_0001, 0x1_34c0, u64::MAX - 7, 1 << 47] {
        inputs.bases.insert(ObjectSeq::Alloc(1), bad);
        let outcome = b.run_with(&inputs, Limits::default()).outcome;
        assert_eq!(outcome, Outcome::Unplaced(ObjectSeq::Alloc(1)), "{bad:#x}");
    }
    // Overlap, and adjacency.
    inputs.bases.insert(ObjectSeq::Alloc(0), 0x6000_0000);
    inputs.bases.insert(ObjectSeq::Alloc(1), 0x6000_0008);
    assert_eq!(b.run_with(&inputs, Limits::default()).outcome, Outcome::Unplaced(ObjectSeq::Alloc(1)));
    inputs.bases.insert(ObjectSeq::Alloc(1), 0x6000_0010);
    assert_eq!(b.run_with(&inputs, Limits::default()).outcome, Outcome::Exit(256 + 2 + 16));
}

/// Counts the reported reads of unwritten bytes.
struct Reads(usize);

impl InputSource for Reads {
    fn unknown(&mut self, _: Unknown, width: u32) -> Bv {
        Bv::zero(width)
    }
    fn observes_reads(&self, _: ObjectSeq) -> bool {
        true
    }
    fn read_unwritten(&mut self) {
        self.0 += 1;
    }
}

#[test]
fn reads_of_unwritten_bytes_are_reported() {
    let reads = |size: u64, edges: &dyn Fn(&mut Build, ExprId, ExprId)| {
        let mut b = build(64);
        let (p, q) = (b.alloc(size, AllocKind::MALLOC), b.alloc(size, AllocKind::Stack));
        edges(&mut b, p, q);
        let zero = b.ptr(0);
        b.exit(zero);
        let mut source = Reads(0);
        let run = Interpreter::new(&b.p).run(&mut source, Limits::default(), &mut ());
        assert_eq!(run.outcome, Outcome::Exit(0));
        source.0
    };
    let load = |b: &mut Build, p: ExprId, offset: i64| {
        let at = b.at(p, offset);
        b.load(at, 32);
    };
    let copy = |b: &mut Build, dst: ExprId, src: ExprId| {
        let len = b.ptr(8);
        b.op(Op::Copy { dst, src, len });
    };
    let fill = |b: &mut Build, dst: ExprId| {
        let (byte, len) = (b.int(8, 7), b.ptr(16));
        b.op(Op::Fill { dst, byte, len });
    };
    assert_eq!(reads(16, &|b, p, _| load(b, p, 0)), 1);
    let written = |b: &mut Build, p: ExprId| _ = b.store(p, 32, 1);
    for (offset, count) in [(0, 0), (1, 1), (4, 1)] {
        let after_store = reads(16, &|b, p, _| {
            written(b, p);
            load(b, p, offset);
        });
        // A copy reads nothing, and its destination has the unwritten bytes of the source.
        let after_copy = reads(16, &|b, p, q| {
            written(b, p);
            fill(b, q);
            copy(b, q, p);
            load(b, q, 8);
            load(b, q, offset);
        });
        assert_eq!((after_store, after_copy), (count, count), "{offset}");
    }
    let in_one_object = reads(16, &|b, p, _| {
        fill(b, p);
        let end = b.at(p, 8);
        copy(b, p, end);
        load(b, p, 0);
    });
    // Large objects have no record of their bytes, so already a write is reported.
    assert_eq!((in_one_object, reads(2 << 20, &|b, p, _| written(b, p))), (0, 1));
}

#[test]
fn address_space_runs_out_and_is_used_again() {
    let mut b = build(32);
    b.alloc(0xffff_fff0, AllocKind::MALLOC);
    assert_eq!(b.run(), Outcome::Unplaced(ObjectSeq::Alloc(0)));

    // `for (i = 0; i < 100; i++) free(malloc(256 MiB))` takes 25 GiB of addresses.
    let mut b = build(32);
    let (i, p) = (b.var(32), b.var(32));
    let zero = b.int(32, 0);
    b.assign(i, zero);
    let head = b.loc;
    let (ie, hundred, one, size) = (b.get(i), b.int(32, 100), b.int(32, 1), b.ptr(1 << 28));
    let cond = b.p.exprs.ult(ie, hundred);
    let (body, after) = (b.p.add_location(b.p.entry), b.p.add_location(b.p.entry));
    b.p.add_branch(head, cond, body, after, None);
    b.loc = body;
    b.op(Op::Alloc { var: p, size, align: 16, kind: AllocKind::MALLOC, zeroed: false });
    let pe = b.get(p);
    b.store(pe, 32, 5);
    b.op(Op::Free { ptr: pe, family: Family::Malloc });
    let next = b.p.exprs.add(ie, one);
    b.p.add_edge(b.loc, Op::Assign { var: i, value: next }, head, None);
    b.loc = after;
    b.exit(ie);
    assert_eq!(b.run(), Outcome::Exit(100));
}

// Compiled expressions against the evaluator.
