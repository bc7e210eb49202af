//! The proof checker on right and on broken proofs.

use cfa::*;
use engine::budget::Budget;
use engine::proof::{Certificate, CertifiedContract, ProofCheck, check};

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
    /// Where `cond` holds, and where it does not.
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
        Certificate {
            pool: self.p.exprs.clone(),
            heads: Default::default(),
            contracts: Default::default(),
            of_variables: true,
        }
    }
    fn check(&self, certificate: &Certificate) -> ProofCheck {
        check(&self.p, certificate, &Budget::unlimited())
    }
}

/// `for (i = 0; i < 10; i += 2) {}`, then an error if `i != 10`; the head and `i`.
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
    // Not kept, not enough, not true at first, nothing.
    assert!(matches!(verdict(&|p| vec![at_most(p, 10)]), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(&|p| vec![at_most(p, 8), even(p)]), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(&|p| vec![at_most(p, 12), even(p)]), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(&|p| vec![p.bool(false)]), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(&|_| vec![]), ProofCheck::Refuted(_)));
}

/// `f(n) { g = g + 1; return n == 0 ? 0 : f(n - 1) + 1; }`; an error if `f(x) != x` for an input `x`, and one if `g` is
/// then not `x + 1`.
fn recursion() -> (Build, FuncId, VarId, VarId) {
    let mut b = Build::new();
    let zero = b.p.exprs.int(32, 0);
    let one = b.p.exprs.int(32, 1);
    let g = b.var(VarKind::Global { init: Some(zero) });
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
    // Nothing about the global; the wrong result; required of a call that does not satisfy it.
    assert!(matches!(verdict(0, false, false), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(1, true, false), ProofCheck::Refuted(_)));
    assert!(matches!(verdict(0, true, true), ProofCheck::Refuted(_)));
    assert!(matches!(b.check(&b.certificate()), ProofCheck::Refuted(_)));
}

#[test]
fn what_depends_on_memory_is_not_checked() {
    let mut b = Build::new();
    let info = Global {
        name: "cell".into(),
        ty: b.int,
        size: 4,
        align: 4,
        read_only: false,
        init: Some(GlobalInit::default()),
        place: None,
    };
    let cell = b.p.globals.push(info);
    let x = b.var(VarKind::Local(b.p.entry));
    let addr = b.p.exprs.global_addr(cell, 64);
    let at = b.op(b.p.funcs[b.p.entry].entry, Op::Load { var: x, addr });
    let (e, zero) = (b.p.var_expr(x), b.p.exprs.int(32, 0));
    let wrong = b.p.exprs.ne(e, zero);
    let (bad, _) = b.branch(at, wrong);
    b.error(bad);
    assert!(matches!(b.check(&b.certificate()), ProofCheck::NotChecked(_)));
}
