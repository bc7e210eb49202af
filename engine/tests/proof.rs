//! Tests the certificate checker on correct and incorrect certificates.

use certificate::{CellFact, Certificate, CertifiedContract, Frame, ProofCheck, Row, Site, check};
use cfa::*;
use engine::budget::Budget;
use engine::smt::{Choice, Kind};
use rustc_hash::FxHashSet;

struct Build {
    p: Program,
    int: TypeId,
}

impl Build {
    fn new() -> Self {
        let mut p = Program::new(DataLayout { pointer_width: 64 });
        let int = p.types.push(CType::Int { name: "int".into(), width: 32, signed: true });
        Self { p, int }
    }
    fn var(&mut self, kind: VarKind) -> VarId {
        self.p.vars.push(Var { name: None, ty: self.int, width: 32, kind, place: None })
    }
    fn op(&mut self, at: LocId, op: Op) -> LocId {
        let to = self.p.add_location(self.p.locs[at].func);
        self.p.add_edge(at, op, to, None);
        to
    }
    /// Adds a branch. Returns the locations where `cond` holds and where it does not.
    fn branch(&mut self, at: LocId, cond: ExprId) -> (LocId, LocId) {
        let func = self.p.locs[at].func;
        let (yes, no) = (self.p.add_location(func), self.p.add_location(func));
        self.p.add_branch(at, cond, yes, no, None);
        (yes, no)
    }
    fn error(&mut self, at: LocId) {
        let info = ErrorInfo { check: cfa::Check::Call, message: "error".into(), place: None };
        let error = self.p.errors.push(info);
        self.op(at, Op::Error(error));
    }
    fn certificate(&self) -> Certificate {
        Certificate::new(self.p.exprs.clone())
    }
    fn check(&self, certificate: &Certificate) -> ProofCheck {
        check(&self.p, certificate, &Choice::default(), &Budget::unlimited())
    }
}

/// `for (i = 0; i < 10; i += 2) {}`, then an error if `i != 10`. Returns the head and `i`.
fn counter() -> (Build, LocId, ExprId) {
    let mut b = Build::new();
    let i = b.var(VarKind::Local(b.p.entry));
    let (e, zero, two, ten) = (b.p.var_expr(i), b.p.exprs.int(32, 0), b.p.exprs.int(32, 2), b.p.exprs.int(32, 10));
    let head = b.op(b.p.funcs[b.p.entry].entry, Op::Assign { var: i, value: zero });
    let less = b.p.exprs.slt(e, ten);
    let (inside, after) = b.branch(head, less);
    let next = b.p.exprs.add(e, two);
    let back = b.op(inside, Op::Assign { var: i, value: next });
    b.p.add_edge(back, Op::Skip, head, None);
    let wrong = b.p.exprs.ne(e, ten);
    let (bad, _) = b.branch(after, wrong);
    b.error(bad);
    (b, head, e)
}

#[test]
fn loop_invariants() {
    let (b, head, i) = counter();
    let verdict = |make: &dyn Fn(&mut ExprPool) -> Vec<ExprId>| {
        let mut certificate = b.certificate();
        let conditions = make(&mut certificate.pool);
        certificate.heads.insert(head, conditions);
        b.check(&certificate)
    };
    let at_most = |pool: &mut ExprPool, bound: u64| {
        let c = pool.int(32, bound);
        pool.sle(i, c)
    };
    let even = |pool: &mut ExprPool| {
        let low = pool.extract(0, 0, i);
        let zero = pool.int(1, 0);
        pool.eq(low, zero)
    };
    assert_eq!(verdict(&|p| vec![at_most(p, 10), even(p)]), ProofCheck::Confirmed);
    // Not inductive, too weak, initially false, and missing conditions.
    assert!(matches!(verdict(&|p| vec![at_most(p, 10)]), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(&|p| vec![at_most(p, 8), even(p)]), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(&|p| vec![at_most(p, 12), even(p)]), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(&|p| vec![p.bool(false)]), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(&|_| vec![]), ProofCheck::Refuted(_)));
}

/// `f(n) { g = g + 1; return n == 0 ? 0 : f(n - 1) + 1; }`. There is an error if `f(x) != x` for an input `x`, and one
/// if afterwards `g` is not `x + 1`.
fn recursion() -> (Build, FuncId, VarId, VarId) {
    let mut b = Build::new();
    let zero = b.p.exprs.int(32, 0);
    let one = b.p.exprs.int(32, 1);
    let g = b.var(VarKind::Global { init: Some(zero), is_static: false });
    let f = b.p.add_function("f", b.int, Some(32));
    let n = b.var(VarKind::Param(f));
    b.p.funcs[f].params.push(n);
    let r = b.var(VarKind::Local(f));
    let (en, er, eg) = (b.p.var_expr(n), b.p.var_expr(r), b.p.var_expr(g));
    let more = b.p.exprs.add(eg, one);
    let at = b.op(b.p.funcs[f].entry, Op::Assign { var: g, value: more });
    let is_zero = b.p.exprs.eq(en, zero);
    let (base, step) = b.branch(at, is_zero);
    b.op(base, Op::Return { value: Some(zero) });
    let less = b.p.exprs.sub(en, one);
    let call = |arg, result| Op::Call {
        callee: Callee::Direct(f),
        args: Box::new([arg]),
        varargs: None,
        result: Some(result),
    };
    let at = b.op(step, call(less, r));
    let sum = b.p.exprs.add(er, one);
    b.op(at, Op::Return { value: Some(sum) });
    let (x, y) = (b.var(VarKind::Local(b.p.entry)), b.var(VarKind::Local(b.p.entry)));
    let input = b.p.inputs.push(Input { kind: InputKind::Nondet("x".into()), ty: b.int, width: 32, place: None });
    let at = b.op(b.p.funcs[b.p.entry].entry, Op::Havoc { var: x, input });
    let (ex, ey) = (b.p.var_expr(x), b.p.var_expr(y));
    let at = b.op(at, call(ex, y));
    let wrong = b.p.exprs.ne(ex, ey);
    let (bad, at) = b.branch(at, wrong);
    b.error(bad);
    let expected = b.p.exprs.add(ex, one);
    let wrong = b.p.exprs.ne(eg, expected);
    let (bad, _) = b.branch(at, wrong);
    b.error(bad);
    (b, f, n, g)
}

#[test]
fn contracts() {
    let (b, f, n, g) = recursion();
    let verdict = |off: u64, about_g: bool, positive: bool| {
        let mut certificate = b.certificate();
        let pool = &mut certificate.pool;
        let (result, after) = (pool.fresh_symbol(Sort::Bv(32)).1, pool.fresh_symbol(Sort::Bv(32)).1);
        let (n, old) = (pool.var(n, 32), pool.var(g, 32));
        let off = pool.int(32, off);
        let expected = pool.add(n, off);
        let mut ensures = vec![pool.eq(result, expected)];
        if about_g {
            let (calls, one) = (pool.add(old, n), pool.int(32, 1));
            let calls = pool.add(calls, one);
            ensures.push(pool.eq(after, calls));
        }
        let zero = pool.int(32, 0);
        let requires = if positive { vec![pool.slt(zero, n)] } else { vec![] };
        let contract = CertifiedContract { requires, ensures, result: Some(result), after: vec![(g, after)] };
        certificate.contracts.insert(f, contract);
        b.check(&certificate)
    };
    assert_eq!(verdict(0, true, false), ProofCheck::Confirmed);
    // No postcondition on the global, a wrong result, and a precondition that the call violates.
    assert!(matches!(verdict(0, false, false), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(1, true, false), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(0, true, true), ProofCheck::Refuted(_)));
    assert!(matches!(b.check(&b.certificate()), ProofCheck::Refuted(_)));
}

impl Build {
    fn object(&mut self, size: u64, bytes: Vec<u8>) -> ExprId {
        let init = Some(GlobalInit { bytes, pointers: Vec::new() });
        let (name, ty) = ("object".into(), self.int);
        let object = Global { name, ty, size, align: 4, read_only: false, is_static: false, init, place: None };
        let object = self.p.globals.push(object);
        self.p.exprs.global_addr(object, 64)
    }
    /// The address of a 32-bit element of an object.
    fn element(&mut self, base: ExprId, index: ExprId) -> ExprId {
        let (wide, four) = (self.p.exprs.zext(64, index), self.p.exprs.int(64, 4));
        let offset = self.p.exprs.mul(four, wide);
        self.p.exprs.add(base, offset)
    }
    fn int(&mut self, value: u64) -> ExprId {
        self.p.exprs.int(32, value)
    }
    /// `x = *addr;`, then an error if `x` differs from `value`.
    fn expect(&mut self, at: LocId, addr: ExprId, value: ExprId) -> LocId {
        let x = self.var(VarKind::Local(self.p.entry));
        let at = self.op(at, Op::Load { var: x, addr });
        let e = self.p.var_expr(x);
        let wrong = self.p.exprs.ne(e, value);
        let (bad, good) = self.branch(at, wrong);
        self.error(bad);
        good
    }
    fn input(&mut self, at: LocId) -> (ExprId, LocId) {
        let x = self.var(VarKind::Local(self.p.entry));
        let input =
            self.p.inputs.push(Input { kind: InputKind::Nondet("x".into()), ty: self.int, width: 32, place: None });
        let at = self.op(at, Op::Havoc { var: x, input });
        (self.p.var_expr(x), at)
    }
    /// `i = 0; while (i < n) { BODY; i += 1 }`. Returns `i`, the head, the start of the body, and the location after
    /// the loop.
    fn repeat(&mut self, at: LocId, n: ExprId) -> (ExprId, LocId, LocId, LocId) {
        let i = self.var(VarKind::Local(self.p.entry));
        let (e, zero, one) = (self.p.var_expr(i), self.int(0), self.int(1));
        let head = self.op(at, Op::Assign { var: i, value: zero });
        let less = self.p.exprs.ult(e, n);
        let (inside, after) = self.branch(head, less);
        let more = self.p.exprs.add(e, one);
        let end = self.p.add_location(self.p.entry);
        let back = self.p.add_location(self.p.entry);
        self.p.add_edge(end, Op::Assign { var: i, value: more }, back, None);
        self.p.add_edge(back, Op::Skip, head, None);
        self.p.add_edge(inside, Op::Skip, end, None);
        (e, head, inside, after)
    }
    /// Sets the operation at the start of a body that `repeat` has created.
    fn inside(&mut self, inside: LocId, op: Op) {
        let Out::One(skip) = self.p.locs[inside].out else { panic!("a skip") };
        self.p.edges[skip].op = op;
    }
    fn start(&self) -> LocId {
        self.p.funcs[self.p.entry].entry
    }
}

fn writes(sites: impl IntoIterator<Item = Site>) -> Frame {
    Frame { written: sites.into_iter().collect(), ..Frame::default() }
}

const FIRST: Site = Site::Global(GlobalId(0));

#[test]
fn memory_without_loops() {
    // Write and read at an unknown index. The write must not change another object, and must change its own.
    let verdict = |value: u64, stored: u64| {
        let mut b = Build::new();
        let (array, other) = (b.object(40, vec![7]), b.object(8, vec![5]));
        let (x, at) = b.input(b.start());
        let ten = b.int(10);
        let few = b.p.exprs.ult(x, ten);
        let (at, _) = b.branch(at, few);
        let (there, stored) = (b.element(array, x), b.int(stored));
        let at = b.op(at, Op::Store { addr: there, value: stored });
        let value = b.int(value);
        let at = b.expect(at, there, value);
        let five = b.int(5);
        b.expect(at, other, five);
        b.check(&b.certificate())
    };
    assert_eq!(verdict(3, 3), ProofCheck::Confirmed);
    assert!(matches!(verdict(3, 4), ProofCheck::NotChecked(_)));
}

#[test]
fn loops_that_write_must_be_named() {
    // The loop writes the first object. There is an error if the object `which` does not keep its initial value.
    let verdict = |written: Option<Frame>, which: usize| {
        let mut b = Build::new();
        let objects = [b.object(40, vec![7]), b.object(8, vec![5])];
        let ten = b.int(10);
        let (i, head, inside, after) = b.repeat(b.start(), ten);
        let addr = b.element(objects[0], i);
        b.inside(inside, Op::Store { addr, value: i });
        let value = b.int([7, 5][which]);
        b.expect(after, objects[which], value);
        let mut certificate = b.certificate();
        certificate.frames.extend(written.map(|frame| (head, frame)));
        b.check(&certificate)
    };
    assert_eq!(verdict(Some(writes([FIRST])), 1), ProofCheck::Confirmed);
    // A wrong frame, no frame, and an error in the written object.
    assert!(matches!(verdict(Some(writes([])), 1), ProofCheck::NotChecked(_)));
    assert!(matches!(verdict(None, 1), ProofCheck::NotChecked(_)));
    assert!(matches!(verdict(Some(writes([FIRST])), 0), ProofCheck::NotChecked(_)));
    // Exploration of all executions.
    assert_eq!(verdict(Some(Frame { followed: true, ..Frame::default() }), 1), ProofCheck::Confirmed);
    assert!(!matches!(verdict(Some(Frame { followed: true, ..Frame::default() }), 0), ProofCheck::Confirmed));
}

#[test]
fn facts_about_all_cells() {
    // `for (i = 0; i < 10; i++) a[i] = 3;`, then an error if `a[x]` has another value for some input `x < behind`.
    let verdict = |body: u64, high: Option<u64>, behind: u64| {
        let mut b = Build::new();
        let array = b.object(80, vec![]);
        let (ten, three) = (b.int(10), b.int(3));
        let (i, head, inside, after) = b.repeat(b.start(), ten);
        let addr = b.element(array, i);
        b.inside(inside, Op::Store { addr, value: three });
        let (x, at) = b.input(after);
        let behind = b.int(behind);
        let few = b.p.exprs.ult(x, behind);
        let (at, _) = b.branch(at, few);
        let there = b.element(array, x);
        b.expect(at, there, three);
        let mut certificate = b.certificate();
        certificate.frames.insert(head, writes([FIRST]));
        let pool = &mut certificate.pool;
        let (index, cell) = (pool.fresh_symbol(Sort::Bv(64)).1, pool.fresh_symbol(Sort::Bv(32)).1);
        let (low, value) = (pool.int(64, 0), pool.int(32, body));
        let high = match high {
            Some(high) => pool.int(64, high),
            None => pool.zext(64, i),
        };
        let body = pool.eq(cell, value);
        let row = Row { base: array, first: 0, stride: 4, len: 4, cell };
        certificate.cells.insert(head, vec![CellFact { rows: vec![row], index, low, high, body }]);
        let ten = pool.int(32, 10);
        certificate.heads.insert(head, vec![pool.ule(i, ten)]);
        b.check(&certificate)
    };
    assert_eq!(verdict(3, None, 10), ProofCheck::Confirmed);
    // A wrong value, cells that are not yet written, and an index outside the range of the fact.
    assert!(matches!(verdict(4, None, 10), ProofCheck::NotChecked(_)));
    assert!(matches!(verdict(3, Some(10), 10), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(3, None, 11), ProofCheck::NotChecked(_)));
}

#[test]
fn invariants_over_several_iterations() {
    // `x` and `y` are swapped in each iteration. The condition that `x` is 1 or 2 needs three iterations to be
    // inductive.
    let verdict = |iterations: u32, wrong: bool| {
        let mut b = Build::new();
        let [x, y, t] = std::array::from_fn(|_| b.var(VarKind::Local(b.p.entry)));
        let (ex, ey, et) = (b.p.var_expr(x), b.p.var_expr(y), b.p.var_expr(t));
        let (one, two) = (b.int(1), b.int(if wrong { 3 } else { 2 }));
        let at = b.op(b.start(), Op::Assign { var: x, value: one });
        let head = b.op(at, Op::Assign { var: y, value: two });
        let input = b.p.inputs.push(Input { kind: InputKind::Nondet("t".into()), ty: b.int, width: 32, place: None });
        let at = b.op(head, Op::Assign { var: t, value: ex });
        let at = b.op(at, Op::Assign { var: x, value: ey });
        let at = b.op(at, Op::Assign { var: y, value: et });
        let at = b.op(at, Op::Havoc { var: t, input });
        let (is_one, two) = (b.p.exprs.eq(ex, one), b.int(2));
        let is_two = b.p.exprs.eq(ex, two);
        let either = b.p.exprs.or(is_one, is_two);
        let neither = b.p.exprs.not(either);
        let (bad, at) = b.branch(at, neither);
        b.error(bad);
        b.p.add_edge(at, Op::Skip, head, None);
        let mut certificate = b.certificate();
        certificate.iterations = iterations;
        certificate.frames.insert(head, writes([]));
        b.check(&certificate)
    };
    assert!(matches!(verdict(1, false), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(2, false), ProofCheck::Refuted(_)));
    assert_eq!(verdict(3, false), ProofCheck::Confirmed);
    assert_eq!(verdict(4, false), ProofCheck::Confirmed);
    for wrong in [0, 9] {
        assert!(matches!(verdict(wrong, false), ProofCheck::NotChecked(_)));
    }
    for iterations in 1..=4 {
        assert!(matches!(verdict(iterations, true), ProofCheck::Refuted(_)));
    }
}

#[test]
fn pointers_that_leave_their_objects() {
    // `p = a; for (i = 0; i < 3; i++) p = STAYS ? p + 4 : b;`. Then `*p` is written, and there is an error if `b` has
    // changed.
    let verdict = |stays: bool, iterations: u32, frame: Frame| {
        let mut b = Build::new();
        let objects = [b.object(40, vec![]), b.object(40, vec![])];
        let kind = VarKind::Local(b.p.entry);
        let p = b.p.vars.push(Var { name: None, ty: b.int, width: 64, kind, place: None });
        let at = b.op(b.start(), Op::Assign { var: p, value: objects[0] });
        let three = b.int(3);
        let (_, head, inside, after) = b.repeat(at, three);
        let (e, four) = (b.p.var_expr(p), b.p.exprs.int(64, 4));
        let next = b.p.exprs.add(e, four);
        b.inside(inside, Op::Assign { var: p, value: if stays { next } else { objects[1] } });
        let one = b.int(1);
        let at = b.op(after, Op::Store { addr: e, value: one });
        let zero = b.int(0);
        b.expect(at, objects[1], zero);
        let mut certificate = b.certificate();
        certificate.iterations = iterations;
        certificate.frames.insert(head, frame);
        b.check(&certificate)
    };
    for iterations in 1..=3 {
        assert_eq!(verdict(true, iterations, writes([])), ProofCheck::Confirmed);
        assert!(matches!(verdict(false, iterations, writes([])), ProofCheck::Refuted(_)));
        let roaming = Frame { roaming: FxHashSet::from_iter([VarId(0)]), ..Frame::default() };
        assert!(matches!(verdict(true, iterations, roaming), ProofCheck::NotChecked(_)));
    }
}

#[test]
fn faults_that_somebody_asks_for() {
    // `a[i] = 0` for `i < n` in an object of ten elements, with an enabled bounds check.
    let verdict = |n: u64| {
        let mut b = Build::new();
        let array = b.object(40, vec![]);
        let n = b.int(n);
        let (i, head, inside, _) = b.repeat(b.start(), n);
        let (addr, zero) = (b.element(array, i), b.int(0));
        b.inside(inside, Op::Store { addr, value: zero });
        let error = b.p.errors.push(ErrorInfo { check: Check::Bounds, message: "outside".into(), place: None });
        let Out::One(store) = b.p.locs[inside].out else { panic!("a store") };
        b.p.edges[store].fault = Some(error);
        let mut certificate = b.certificate();
        certificate.frames.insert(head, writes([FIRST]));
        certificate.heads.insert(head, vec![certificate.pool.ule(i, n)]);
        b.check(&certificate)
    };
    assert_eq!(verdict(10), ProofCheck::Confirmed);
    assert!(matches!(verdict(11), ProofCheck::Refuted(_)));
}

#[test]
fn accesses_before_an_object() {
    // If no check is enabled, `a[-1] = 1` ends the execution, and a read of `a[-1]` returns any value.
    let verdict = |writes: bool| {
        let mut b = Build::new();
        let (array, minus_four, one) = (b.object(40, vec![]), b.p.exprs.int(64, 4u64.wrapping_neg()), b.int(1));
        let before = b.p.exprs.add(array, minus_four);
        if writes {
            let at = b.op(b.start(), Op::Store { addr: before, value: one });
            b.error(at);
        } else {
            b.expect(b.start(), before, one);
        }
        b.check(&b.certificate())
    };
    assert_eq!(verdict(true), ProofCheck::Confirmed);
    assert!(matches!(verdict(false), ProofCheck::NotChecked(_)));
}

#[test]
fn pointers_to_functions() {
    // An input selects one of two functions that return 1 and 2. There is an error if the result is `unexpected`.
    let verdict = |unexpected: u64| {
        let mut b = Build::new();
        let mut addresses = Vec::new();
        for result in [1, 2] {
            let f = b.p.add_function("f", b.int, Some(32));
            let value = b.int(result);
            b.op(b.p.funcs[f].entry, Op::Return { value: Some(value) });
            addresses.push(b.p.exprs.func_addr(f, 64));
        }
        let (x, at) = b.input(b.start());
        let zero = b.int(0);
        let is_zero = b.p.exprs.eq(x, zero);
        let pointer = b.p.exprs.ite(is_zero, addresses[0], addresses[1]);
        let r = b.var(VarKind::Local(b.p.entry));
        let callee = Callee::Indirect(pointer);
        let at = b.op(at, Op::Call { callee, args: Box::new([]), varargs: None, result: Some(r) });
        let (e, unexpected) = (b.p.var_expr(r), b.int(unexpected));
        let wrong = b.p.exprs.eq(e, unexpected);
        let (bad, _) = b.branch(at, wrong);
        b.error(bad);
        b.check(&b.certificate())
    };
    assert_eq!(verdict(3), ProofCheck::Confirmed);
    assert!(matches!(verdict(2), ProofCheck::Refuted(_)));
}

#[test]
fn the_solver_is_the_one_chosen() {
    let (b, head, i) = counter();
    let mut certificate = b.certificate();
    let ten = certificate.pool.int(32, 10);
    let (low, zero) = (certificate.pool.extract(0, 0, i), certificate.pool.int(1, 0));
    let even = certificate.pool.eq(low, zero);
    certificate.heads.insert(head, vec![certificate.pool.sle(i, ten), even]);
    for kind in [Kind::Portfolio, Kind::Bitwuzla, Kind::Z3, Kind::Both] {
        let folder = std::env::temp_dir().join(format!("proviso-proof-{kind:?}-{}", std::process::id()));
        let choice = Choice { kind, dump: Some(folder.clone()) };
        assert_eq!(check(&b.p, &certificate, &choice, &Budget::unlimited()), ProofCheck::Confirmed);
        let names = std::fs::read_dir(&folder).expect("queries").map(|entry| entry.expect("a folder").path());
        let queries: usize = names.map(|folder| std::fs::read_dir(folder).expect("queries").count()).sum();
        assert!(queries > 0, "{kind:?} was asked nothing");
        std::fs::remove_dir_all(&folder).expect("it can be removed");
    }
}
