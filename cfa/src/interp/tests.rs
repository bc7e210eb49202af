//! Hand-made programs, one or a few operations each.

use super::*;
use crate::check::Check;
use crate::expr::{BinOp, ExprPool, UnOp};
use crate::float::{FBinOp, FCmp, FUnOp, FloatFormat, Rounding};
use proptest::prelude::*;

/// Builds the entry function, edge after edge.
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
    /// A function under construction: `then` builds its body. Returns to the old place.
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
    // Values that are used up are 0.
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
    let p = b.alloc(1 << 40, AllocKind::Heap);
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
    // From a flat object to the middle of a paged one, within that with overlap, and back.
    let mut b = build(64);
    let small = b.alloc(200_000, AllocKind::Heap);
    let big = b.alloc(3 << 20, AllocKind::Heap);
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
fn faults() {
    type Make = fn(&mut Build);
    let cases: &[(Fault, Make)] = &[
        (Fault::NullPointer, |b| {
            let null = b.ptr(0);
            b.load(null, 8);
        }),
        (Fault::NullPointer, |b| {
            let field = b.ptr(16);
            b.store(field, 8, 1);
        }),
        (Fault::OutOfBounds, |b| {
            let p = b.alloc(10, AllocKind::Stack);
            let end = b.at(p, 10);
            b.load(end, 8);
        }),
        (Fault::OutOfBounds, |b| {
            let p = b.alloc(10, AllocKind::Heap);
            let tail = b.at(p, 8);
            b.store(tail, 32, 0);
        }),
        (Fault::OutOfBounds, |b| {
            b.alloc(10, AllocKind::Stack);
            let p = b.alloc(10, AllocKind::Stack);
            let before = b.at(p, -1);
            b.load(before, 8);
        }),
        (Fault::OutOfBounds, |b| {
            let p = b.alloc(0, AllocKind::Heap);
            b.load(p, 8);
        }),
        (Fault::OutOfBounds, |b| {
            let (p, q) = (b.alloc(10, AllocKind::Stack), b.alloc(9, AllocKind::Stack));
            let len = b.ptr(10);
            b.op(Op::Copy { dst: p, src: q, len });
        }),
        (Fault::OutOfBounds, |b| {
            let main = b.p.entry;
            let code = b.p.exprs.func_addr(main, b.p.layout.pointer_width);
            b.load(code, 8);
        }),
        (Fault::Dangling, |b| {
            let p = b.alloc(10, AllocKind::Heap);
            b.op(Op::Free { ptr: p, kind: AllocKind::Heap });
            b.load(p, 8);
        }),
        (Fault::Dangling, |b| {
            let width = b.p.layout.pointer_width;
            let f = b.function(&[], Some(width), |b, _, _| {
                let p = b.alloc(4, AllocKind::Stack);
                b.op(Op::Return { value: Some(p) });
            });
            let p = b.var(width);
            b.call(Callee::Direct(f), &[], Some(p));
            let p = b.get(p);
            b.store(p, 8, 1);
        }),
        (Fault::DoubleFree, |b| {
            let p = b.alloc(10, AllocKind::Heap);
            b.op(Op::Free { ptr: p, kind: AllocKind::Heap });
            b.op(Op::Free { ptr: p, kind: AllocKind::Heap });
        }),
        (Fault::InvalidFree, |b| {
            let p = b.alloc(10, AllocKind::Stack);
            b.op(Op::Free { ptr: p, kind: AllocKind::Heap });
        }),
        (Fault::InvalidFree, |b| {
            let p = b.alloc(10, AllocKind::Heap);
            let inner = b.at(p, 4);
            b.op(Op::Free { ptr: inner, kind: AllocKind::Heap });
        }),
        (Fault::InvalidCall, |b| {
            let p = b.alloc(10, AllocKind::Heap);
            b.call(Callee::Indirect(p), &[], None);
        }),
        (Fault::InvalidCall, |b| {
            let main = b.p.entry;
            let code = b.p.exprs.func_addr(main, b.p.layout.pointer_width);
            let inner = b.at(code, 1);
            b.call(Callee::Indirect(inner), &[], None);
        }),
        (Fault::ReadOnly, |b| {
            let ty = b.ty;
            let g = b.p.globals.push(Global {
                name: "c".into(),
                ty,
                size: 4,
                align: 4,
                read_only: true,
                init: Some(GlobalInit { bytes: vec![1, 2], pointers: vec![] }),
                place: None,
            });
            let g = b.p.exprs.global_addr(g, b.p.layout.pointer_width);
            b.load(g, 32);
            b.store(g, 8, 1);
        }),
        (Fault::Dangling, |b| {
            let p = b.alloc(10, AllocKind::Heap);
            b.op(Op::Free { ptr: p, kind: AllocKind::Heap });
            let var = b.var(b.p.layout.pointer_width);
            b.op(Op::ObjectSize { var, ptr: p });
        }),
    ];
    for &(fault, make) in cases {
        for width in [32, 64] {
            let mut b = build(width);
            make(&mut b);
            let last = EdgeId(b.p.edges.len() as u32 - 1);
            b.exit(ExprId(0));
            assert_eq!(b.fault(), fault);
            let Outcome::Invalid { edge, .. } = b.run() else { unreachable!() };
            assert_eq!(edge, last, "{fault:?}");
        }
    }
}

#[test]
fn offsets_in_objects() {
    let mut b = build(64);
    let (p, dead) = (b.alloc(8, AllocKind::Heap), b.alloc(8, AllocKind::Heap));
    b.op(Op::Free { ptr: dead, kind: AllocKind::Heap });
    let null = b.ptr(0);
    let pointers = [b.at(p, 5), b.at(p, 8), b.at(p, 9), b.at(dead, 1), null];
    let mut sum = b.ptr(0);
    for (n, ptr) in pointers.into_iter().enumerate() {
        let var = b.var(64);
        b.op(Op::ObjectOffset { var, ptr });
        let (offset, factor) = (b.get(var), b.ptr(100u64.pow(n as u32)));
        let digits = b.p.exprs.mul(offset, factor);
        sum = b.p.exprs.add(sum, digits);
    }
    b.exit(sum);
    let expected = 5 + 800u64.wrapping_sub(10_000 + 1_000_000 + 100_000_000);
    assert_eq!(b.run(), Outcome::Exit(expected as i32));
}

#[test]
fn no_faults() {
    let mut b = build(64);
    let null = b.ptr(0);
    b.op(Op::Free { ptr: null, kind: AllocKind::Heap });
    let zero = b.ptr(0);
    b.op(Op::Copy { dst: null, src: null, len: zero });
    let byte = b.int(8, 0);
    b.op(Op::Fill { dst: null, byte, len: zero });
    let p = b.alloc(0, AllocKind::Heap);
    let q = b.alloc(24, AllocKind::Heap);
    let equal = b.p.exprs.eq(p, q);
    let size = b.var(64);
    let inner = b.at(q, 23);
    b.op(Op::ObjectSize { var: size, ptr: inner });
    b.op(Op::Free { ptr: p, kind: AllocKind::Heap });
    let (size, equal) = (b.get(size), b.p.exprs.zext(64, equal));
    let sum = b.p.exprs.add(size, equal);
    b.exit(sum);
    let run = b.run_with(&Inputs::default(), Limits::default());
    assert_eq!((run.outcome, run.live_heap, run.allocs), (Outcome::Exit(24), 1, 2));
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
            object: None
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
        b.p.globals.push(Global { name: "g".into(), ty, size, align: 4, read_only: false, init, place: None })
    };
    let target = global(Some(GlobalInit { bytes: vec![0, 0, 0, 0, 42], pointers: vec![] }), 8);
    let pointer = global(None, 8);
    let unknown = global(None, 4);
    let target_addr = b.p.exprs.global_addr(target, 32);
    let inner = b.at(target_addr, 4);
    b.p.globals[pointer].init = Some(GlobalInit { bytes: vec![1], pointers: vec![(4, inner)] });
    let scalar = b.var_of(32, VarKind::Global { init: Some(inner) });
    let outside = b.var_of(16, VarKind::Global { init: None });
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
    let p = b.alloc(16, AllocKind::Heap);
    let q = b.alloc(2 << 20, AllocKind::Heap);
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

    for bad in [0, 4, 0x5000_0001, 0x40_0000, u64::MAX - 7, 1 << 47] {
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

#[test]
fn address_space_runs_out_and_is_used_again() {
    let mut b = build(32);
    b.alloc(0xffff_fff0, AllocKind::Heap);
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
    b.op(Op::Alloc { var: p, size, align: 16, kind: AllocKind::Heap, zeroed: false });
    let pe = b.get(p);
    b.store(pe, 32, 5);
    b.op(Op::Free { ptr: pe, kind: AllocKind::Heap });
    let next = b.p.exprs.add(ie, one);
    b.p.add_edge(b.loc, Op::Assign { var: i, value: next }, head, None);
    b.loc = after;
    b.exit(ie);
    assert_eq!(b.run(), Outcome::Exit(100));
}

// Compiled expressions against the evaluator.

fn random_expr(pool: &mut ExprPool, vars: &[(VarId, u32)], seed: &mut dyn FnMut(u64) -> u64, depth: u32) -> ExprId {
    let widths = [1, 8, 16, 32, 33, 64, 80, 128];
    let width = widths[seed(widths.len() as u64) as usize];
    expr_of_width(pool, vars, seed, width, depth)
}

/// Interned without simplification, so that every operation is met.
fn expr_of_width(
    pool: &mut ExprPool,
    vars: &[(VarId, u32)],
    seed: &mut dyn FnMut(u64) -> u64,
    width: u32,
    depth: u32,
) -> ExprId {
    use crate::expr::Sort;
    use FloatFormat::*;
    let sort = Sort::Bv(width);
    if depth == 0 {
        let same: Vec<VarId> = vars.iter().filter(|v| v.1 == width).map(|v| v.0).collect();
        if !same.is_empty() && seed(3) > 0 {
            let var = same[seed(same.len() as u64) as usize];
            return pool.var(var, width);
        }
        let value = Bv::new(64, seed(u64::MAX)).sext(128).resize(width.max(1));
        return pool.constant(value);
    }
    let format = [Half, Single, Double, X87, BFloat, Quad].into_iter().find(|f| f.width() == width);
    let sub = |pool: &mut ExprPool, seed: &mut dyn FnMut(u64) -> u64, w| expr_of_width(pool, vars, seed, w, depth - 1);
    let rounding = Rounding::ALL[seed(4) as usize];
    let node = match seed(12) {
        0 => Expr::Unary([UnOp::Not, UnOp::Neg][seed(2) as usize], sub(pool, seed, width)),
        1 => {
            let c = sub(pool, seed, 1);
            Expr::Ite(c, sub(pool, seed, width), sub(pool, seed, width))
        }
        2 if width > 1 => {
            let inner = if width > 8 { 8 } else { 1 };
            let arg = sub(pool, seed, inner);
            if seed(2) == 0 { Expr::Zext { width, arg } } else { Expr::Sext { width, arg } }
        }
        3 => {
            let inner = if seed(2) == 0 { 128 } else { width.max(64) };
            let lo = seed(u64::from(inner - width) + 1) as u32;
            Expr::Extract { hi: lo + width - 1, lo, arg: sub(pool, seed, inner) }
        }
        4 if width > 1 => {
            let low = 1 + seed(u64::from(width) - 1) as u32;
            Expr::Binary(BinOp::Concat, sub(pool, seed, width - low), sub(pool, seed, low))
        }
        5 if width == 1 => {
            let op = [BinOp::Eq, BinOp::Ult, BinOp::Ule, BinOp::Slt, BinOp::Sle][seed(5) as usize];
            let w = [8, 32, 64, 80][seed(4) as usize];
            Expr::Binary(op, sub(pool, seed, w), sub(pool, seed, w))
        }
        6 if width == 1 => {
            let format = [Single, Double, X87, Half][seed(4) as usize];
            let a = sub(pool, seed, format.width());
            match seed(4) {
                0 => Expr::FIsNan(format, a),
                n => {
                    let op = [FCmp::Eq, FCmp::Lt, FCmp::Le][n as usize - 1];
                    Expr::FCompare(op, format, a, sub(pool, seed, format.width()))
                }
            }
        }
        7 if format.is_some() => {
            let to = format.unwrap();
            if seed(2) == 0 {
                let from = [Single, Double, X87][seed(3) as usize];
                Expr::FConvert { rounding, from, to, arg: sub(pool, seed, from.width()) }
            } else {
                let w = [8, 32, 64][seed(3) as usize];
                Expr::IntToF { rounding, to, signed: seed(2) == 0, arg: sub(pool, seed, w) }
            }
        }
        8 if format.is_some() => {
            let ops = [FBinOp::ADD, FBinOp::SUB, FBinOp::MUL, FBinOp::DIV, FBinOp::Rem, FBinOp::Min, FBinOp::Max];
            let op = ops[seed(7) as usize];
            let op = if width > 64 && op == FBinOp::Rem { FBinOp::ADD } else { op };
            Expr::FBinary(op.with_rounding(rounding), format.unwrap(), sub(pool, seed, width), sub(pool, seed, width))
        }
        9 if format.is_some() && width <= 64 => {
            let ops = [FUnOp::Neg, FUnOp::Abs, FUnOp::SQRT, FUnOp::Floor, FUnOp::Trunc, FUnOp::RoundAway];
            Expr::FUnary(ops[seed(6) as usize].with_rounding(rounding), format.unwrap(), sub(pool, seed, width))
        }
        10 => {
            let from = [Single, Double][seed(2) as usize];
            Expr::FToInt { from, signed: seed(2) == 0, width, arg: sub(pool, seed, from.width()) }
        }
        _ => {
            let op = BinOp::ALL[seed(13) as usize];
            Expr::Binary(op, sub(pool, seed, width), sub(pool, seed, width))
        }
    };
    pool.intern(node, sort)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn compiled_expressions_have_the_value_that_the_evaluator_gives(seed in any::<u64>(), depth in 1..6u32) {
        // xorshift64*; proptest cannot shrink through it, but failures are small with small depths.
        let mut state = seed | 1;
        let mut random = |bound: u64| {
            state ^= state >> 12;
            state ^= state << 25;
            state ^= state >> 27;
            let value = state.wrapping_mul(0x2545_f491_4f6c_dd1d);
            // Interesting words now and then where any word will do.
            if bound < u64::MAX {
                (value >> 11) % bound.max(1)
            } else if value % 3 == 0 {
                [0, 1, u64::MAX, 1 << 63, 0x7ff0 << 48][(value >> 32) as usize % 5]
            } else {
                value
            }
        };
        let mut b = build(64);
        let mut vars = Vec::new();
        let mut inputs = Inputs::default();
        for width in [1, 8, 32, 64, 80, 128, 32, 64] {
            let e = b.havoc(width);
            let &Expr::Var(var) = b.p.exprs.get(e) else { unreachable!() };
            vars.push((var, width));
            inputs.values.push(Bv::new(64, random(u64::MAX)).concat(&Bv::new(64, random(u64::MAX))).resize(width));
        }
        let e = random_expr(&mut b.p.exprs, &vars, &mut random, depth);
        let result = b.var(b.p.exprs.width(e));
        b.assign(result, e);
        b.exit(ExprId(0));

        struct Last(VarId, Option<Bv>, Option<Bv>, ExprId);
        impl Observer for Last {
            fn executed(&mut self, _: EdgeId, state: &State) {
                self.1 = state.var(self.0);
                self.2 = Some(state.eval(self.3));
            }
        }
        let mut last = Last(result, None, None, e);
        Interpreter::new(&b.p).run(&mut inputs.source(), Limits::default(), &mut last);
        prop_assert_eq!(last.1, last.2);
    }
}

/// Edges per second of a loop of additions and of memory accesses. By hand:
/// `cargo test --release -p cfa speed -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let b = sum_loop();
    let inputs = Inputs { values: vec![Bv::new(32, 100_000_000)], ..Inputs::default() };
    let measure = |name: &str, b: &Build, inputs: &Inputs| {
        let interpreter = Interpreter::new(&b.p);
        let start = Instant::now();
        let limits = Limits { steps: 300_000_000, call_depth: 10_000_000, memory: 4 << 30, deadline: None };
        let run = interpreter.run(&mut inputs.source(), limits, &mut ());
        let seconds = start.elapsed().as_secs_f64();
        println!("{name}: {:?}, {:.1} M edges/s", run.outcome, run.steps as f64 / seconds / 1e6);
    };
    measure("sums", &b, &inputs);
    let inputs = Inputs { values: vec![Bv::new(32, 5_000_000)], ..Inputs::default() };
    measure("calls", &recursion(), &inputs);
}
