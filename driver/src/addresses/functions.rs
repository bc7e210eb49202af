//! Approximations for numbers that a program computes from the addresses of functions. The interpreter and the analyses
//! use one fixed address for each function, so such numbers may differ from those on a real machine. The pass adds an
//! approximation before each operation that computes one. Copies, calls and comparisons of addresses for equality need
//! none: their results depend only on the fact that different functions have different addresses.

use super::{are_precise, points_to};
use cfa::{BinOp, Bv, Expr, ExprId, FUNCTION_ADDRESSES, FunctionOrigin, LocId, Op, Program, Taint};
use rustc_hash::FxHashSet;
use slicer::pointer::{Mode, ObjectKind};
use std::collections::BTreeMap;

/// The operands from which the operations at a location compute numbers. The flag is true if the operation is also defined
/// for pointers to objects.
type Operands = Vec<(ExprId, bool)>;

/// Adds an approximation before each operation that computes a number from the address of a function.
pub fn approximate(program: &mut Program) {
    if !(0..program.exprs.len()).any(|n| matches!(program.exprs.get(ExprId(n as u32)), Expr::FuncAddr(_))) {
        return;
    }
    let mut found = computations(program);
    // Unification is fast, and it usually proves that no operand is the address of a function.
    for mode in [Mode::Unification, Mode::Inclusion] {
        if found.is_empty() {
            return;
        }
        let mut points_to = points_to(program, mode);
        let is_precise = are_precise(&points_to, mode);
        found.retain(|&loc, _| points_to.is_reached(program.locs[loc].func));
        found.retain(|_, operands| {
            let may_be_function = |&(e, is_for_objects): &(ExprId, bool)| {
                let targets = points_to.pointees(e);
                let mut kinds = targets.iter().map(|&object| points_to.objects[object].kind);
                let is_function = |kind| match kind {
                    ObjectKind::Func(_) => true,
                    ObjectKind::Distance(to) => matches!(points_to.objects[to].kind, ObjectKind::Func(_)),
                    _ => false,
                };
                // If the points-to set of an operand has an object, the pass assumes that an operation that is defined for
                // pointers to objects gets such a pointer.
                let is_function_alone = is_for_objects && is_precise;
                if is_function_alone { !targets.is_empty() && kinds.all(is_function) } else { kinds.any(is_function) }
            };
            operands.iter().any(may_be_function)
        });
    }
    for &loc in found.keys() {
        let place = program.out_edges(loc).next().and_then(|edge| program.edges[edge].place);
        let reason = format!("{FUNCTION_ADDRESSES}: not modelled");
        let taint = program.taints.push(Taint { reason, place, over: false, under: true });
        program.insert_before(loc, Op::Approx { taint });
    }
}

/// The computations in functions of the program, by location. The models do not compute with the addresses of functions that they receive.
fn computations(program: &Program) -> BTreeMap<LocId, Operands> {
    let mut found: BTreeMap<LocId, Operands> = BTreeMap::new();
    let address = program.layout.pointer_width;
    let may_be_address = |e| program.exprs.as_const(e).is_none() && program.exprs.width(e) >= address;
    let sum = |e| match *program.exprs.get(e) {
        Expr::Binary(BinOp::Add | BinOp::Sub, a, b) => vec![a, b],
        _ => Vec::new(),
    };
    let is_token_mask = |e| program.exprs.as_const(e).and_then(Bv::to_u64) == Some(frontend_llvm::token_mask(address));
    for (id, edge) in program.edges.iter() {
        let func = program.func_of(id);
        if program.funcs[func].origin == FunctionOrigin::Model {
            continue;
        }
        let mut work = Vec::new();
        edge.op.for_each_expr(|e| work.push(e));
        let mut operands = Operands::new();
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        while let Some(e) = work.pop() {
            if !seen.insert(e) {
                continue;
            }
            let node = program.exprs.get(e);
            work.extend(node.children());
            match *node {
                Expr::Extract { arg, .. } if may_be_address(arg) => operands.push((arg, false)),
                // No function has the address of a token, which stands for a function of the caller.
                Expr::Binary(BinOp::And, _, mask) if is_token_mask(mask) => {}
                Expr::Binary(op, left, right) => {
                    let (used, is_for_objects) = match op {
                        BinOp::Add | BinOp::Concat => continue,
                        // The difference of an address and a number is an address. That of two addresses is a number.
                        BinOp::Sub => (vec![right], true),
                        // An address with an offset may be any other address.
                        BinOp::Eq => ([left, right].into_iter().flat_map(sum).collect(), true),
                        BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle => (vec![left, right], true),
                        _ => (vec![left, right], false),
                    };
                    let used = used.into_iter().filter(|&e| may_be_address(e));
                    operands.extend(used.map(|e| (e, is_for_objects)));
                }
                _ => {}
            }
        }
        if !operands.is_empty() {
            found.entry(edge.source).or_default().append(&mut operands);
        }
    }
    found
}
