//! Tests of shadows against all values of the uninitialised bits.

use super::*;
use cfa::{CType, DataLayout};

const WIDTH: u32 = 3;

/// A program with two variables, their shadows, and a cursor at its entry.
fn program() -> (Program, Shadows, Cursor, [ExprId; 2], [VarId; 2]) {
    let mut p = Program::new(DataLayout { pointer_width: 64 });
    p.types.push(CType::Unknown { width: WIDTH });
    let entry = p.entry;
    let mut make = || super::super::variable(&mut p, WIDTH, Some(VarKind::Temp(entry)));
    let [a, b, shadow_a, shadow_b] = [(); 4].map(|()| make());
    let shadows = Shadows { variables: [(a, shadow_a), (b, shadow_b)].into_iter().collect() };
    let at = Cursor { loc: p.funcs[entry].entry, place: None };
    let vars = [a, b].map(|v| p.var_expr(v));
    (p, shadows, at, vars, [shadow_a, shadow_b])
}

/// The value of an expression after the inserted assignments.
fn value(p: &Program, e: ExprId, vars: &FxHashMap<VarId, Bv>) -> Bv {
    let mut vars = vars.clone();
    let mut loc = p.funcs[p.entry].entry;
    while let Some(edge) = p.out_edges(loc).next() {
        if let Op::Assign { var, value } = p.edges[edge].op {
            let value = p.exprs.eval_tree(value, &mut |leaf| match *leaf {
                Expr::Var(v) => vars[&v].clone(),
                _ => unreachable!("there are no addresses"),
            });
            vars.insert(var, value);
        }
        loc = p.edges[edge].target;
    }
    p.exprs.eval_tree(e, &mut |leaf| match *leaf {
        Expr::Var(v) => vars[&v].clone(),
        _ => unreachable!("there are no addresses"),
    })
}

/// For all values and shadows of `a` and `b`: compares the shadow of `make(a, b)` with the bits that differ between its
/// possible values.
fn compare(name: &str, exact: bool, make: impl Fn(&mut ExprPool, ExprId, ExprId) -> ExprId) {
    let (mut p, shadows, mut at, [a, b], [shadow_a, shadow_b]) = program();
    let e = make(&mut p.exprs, a, b);
    let shadow = shadows.expression(&mut p, &mut at, e);
    let bv = |n: u64| Bv::new(WIDTH, n);
    let [Expr::Var(var_a), Expr::Var(var_b)] = [a, b].map(|e| p.exprs.get(e).clone()) else { unreachable!() };
    for n in 0..1u64 << (4 * WIDTH) {
        let [x, y, sx, sy] = [0, 1, 2, 3].map(|i| n >> (i * WIDTH) & ((1 << WIDTH) - 1));
        let vars = |x, y| {
            let all = [(var_a, bv(x)), (var_b, bv(y)), (shadow_a, bv(sx)), (shadow_b, bv(sy))];
            all.into_iter().collect::<FxHashMap<VarId, Bv>>()
        };
        let found = value(&p, shadow, &vars(x, y));
        let here = value(&p, e, &vars(x, y));
        let mut differ = Bv::zero(here.width());
        for (other_x, other_y) in (0..1 << WIDTH).flat_map(|x| (0..1 << WIDTH).map(move |y| (x, y))) {
            if (other_x ^ x) & !sx == 0 && (other_y ^ y) & !sy == 0 {
                differ = &differ | &(&here ^ &value(&p, e, &vars(other_x, other_y)));
            }
        }
        let enough = (&differ | &found) == found;
        assert!(
            enough && (!exact || found == differ),
            "{name} of {x} ({sx}) and {y} ({sy}): {found:?}, not {differ:?}"
        );
    }
}

#[test]
fn shadows_have_all_bits_that_may_differ() {
    use BinOp::*;
    for op in BinOp::ALL {
        let exact = matches!(op, And | Or | Xor | Add | Sub | Eq | Ult | Ule | Slt | Sle | Concat);
        compare(&format!("{op:?}"), exact, |x, a, b| x.binary(op, a, b));
    }
    compare("not", true, |x, a, _| x.not(a));
    compare("neg", true, |x, a, _| x.neg(a));
    compare("sext", true, |x, a, _| x.sext(7, a));
    // A constant factor shifts bits up. A power of two does nothing else.
    for by in [2, 4] {
        compare("a product", false, |x, a, _| {
            let by = x.int(WIDTH, by);
            x.mul(a, by)
        });
    }
    compare("the low bits of a product", true, |x, a, _| {
        let four = x.int(WIDTH, 4);
        let product = x.mul(a, four);
        x.extract(1, 0, product)
    });
    compare("a choice", true, |x, a, b| {
        let c = x.extract(0, 0, a);
        let high = x.extract(2, 1, b);
        let low = x.int(2, 1);
        x.ite(c, high, low)
    });
}

#[test]
fn shadows_of_large_expressions_are_shared() {
    compare("much", false, |x, a, b| {
        let (sum, product) = (x.add(a, b), x.mul(a, b));
        let less = x.ult(sum, product);
        let (mixed, other) = (x.sub(sum, product), x.xor(sum, a));
        x.ite(less, mixed, other)
    });
}
