//! Rules 6 and 8: the structure of automata and the operands of operations.

use super::Validator;
use crate::bv::Bv;
use crate::expr::{BinOp, Evaluator, Expr, ExprId, ExprPool, UnOp, Value};
use crate::graph::CfaGraphs;
use crate::index::Id;
use crate::program::*;

impl Validator<'_> {
    pub(super) fn code(&mut self) {
        let p = self.p;
        for (id, _) in p.locs.iter() {
            self.location(id);
        }
        for (id, edge) in p.edges.iter() {
            let func = p.locs[edge.source].func;
            self.require(p.out_edges(edge.source).any(|e| e == id), id, || format!("{} does not have it", edge.source));
            self.require(p.locs[edge.target].func == func, id, || format!("{} is in another function", edge.target));
            self.require(edge.origin.is_sorted_by(|a, b| a < b), id, || "its origins are not in order".into());
            self.operation(id, &edge.op, func);
        }
    }

    fn location(&mut self, id: LocId) {
        let p = self.p;
        for edge in p.out_edges(id) {
            self.require(p.edges[edge].source == id, id, || format!("{edge} starts elsewhere"));
        }
        match p.locs[id].out {
            Out::Sink => {}
            Out::One(edge) => {
                let assume = matches!(p.edges[edge].op, Op::Assume { .. });
                self.require(!assume, id, || "an assume edge alone".into());
            }
            Out::Branch { then_edge, else_edge } => match (&p.edges[then_edge].op, &p.edges[else_edge].op) {
                (&Op::Assume { cond: a, branch: true, .. }, &Op::Assume { cond: b, branch: false, .. }) => {
                    if self.expression(a, then_edge) && self.expression(b, else_edge) {
                        self.require(opposite(&p.exprs, a, b), id, || "its conditions are not opposite".into());
                    }
                }
                _ => self.fail(id, "a branch that is not a then-edge and an else-edge"),
            },
        }
    }

    /// Checks that exactly the last edges of a function lead to sinks.
    pub(super) fn sinks(&mut self, graphs: &CfaGraphs) {
        let p = self.p;
        for (id, edge) in p.edges.iter() {
            let last = matches!(edge.op, Op::Return { .. } | Op::Halt(_) | Op::Error(_));
            let sink = p.locs[edge.target].out == Out::Sink;
            if last {
                self.require(sink, id, || format!("{} has edges after the end", edge.target));
            } else if sink && graphs.node(edge.source).is_some() {
                self.fail(id, format!("nothing follows at {}", edge.target));
            }
        }
    }

    fn operation(&mut self, edge: EdgeId, op: &Op, func: FuncId) {
        let p = self.p;
        let mut fine = true;
        op.for_each_expr(|e| {
            fine &= self.expression(e, edge);
            if fine {
                for v in p.exprs.vars(e) {
                    self.in_scope(v, func, edge);
                }
            }
        });
        if let Some(v) = op.def() {
            fine &= self.in_table(v, p.vars.len(), edge);
            if fine {
                self.in_scope(v, func, edge);
            }
        }
        if fine {
            self.operands(edge, op, func);
        }
    }

    fn in_scope(&mut self, var: VarId, func: FuncId, edge: EdgeId) {
        let fine = self.p.vars[var].func().is_none_or(|f| f == func);
        self.require(fine, edge, || format!("{var} belongs to another function"));
    }

    fn operands(&mut self, edge: EdgeId, op: &Op, func: FuncId) {
        if let Op::Shadow(inner) = op {
            let moves = matches!(**inner, Op::Load { .. } | Op::Store { .. } | Op::Copy { .. } | Op::Fill { .. });
            self.require(moves, edge, || "a shadow operation that is no load, store, copy or fill".into());
        }
        let p = self.p;
        let pointer = p.layout.pointer_width;
        let mut width = |e: ExprId, expected: u32, what: &str| {
            let found = p.exprs.width(e);
            self.require(found == expected, edge, || format!("{what} of {found} bits, not {expected}"));
        };
        match *op.unshadowed() {
            Op::Skip | Op::Leak(_) | Op::Shadow(_) => {}
            Op::Assign { var, value } => width(value, p.vars[var].width, "a value"),
            Op::Assume { cond, .. } => width(cond, 1, "a condition"),
            Op::Load { addr, .. } | Op::Store { addr, .. } => width(addr, pointer, "an address"),
            Op::Alloc { var, size, align, kind, .. } => {
                width(size, pointer, "a size");
                let found = p.vars[var].width;
                self.require(found == pointer, edge, || format!("{var} has {found} bits, not {pointer}"));
                self.require(align.is_power_of_two(), edge, || format!("alignment {align}"));
                let is_scope = matches!(kind, AllocKind::Heap(Family::Scope) | AllocKind::Library(Family::Scope));
                self.require(!is_scope, edge, || "an object with the life of a scope that is not on the stack".into());
            }
            Op::Free { ptr, .. } => width(ptr, pointer, "a pointer"),
            Op::ObjectSize { var, ptr, .. } | Op::ObjectOffset { var, ptr, .. } => {
                width(ptr, pointer, "a pointer");
                let found = p.vars[var].width;
                self.require(found == pointer, edge, || format!("{var} has {found} bits, not {pointer}"));
            }
            Op::Havoc { var, input } => {
                if self.in_table(input, p.inputs.len(), edge) {
                    let (from, to) = (p.inputs[input].width, p.vars[var].width);
                    self.require(from == to, edge, || format!("{from} bits of input for {to}"));
                }
            }
            Op::Copy { dst, src, len } => {
                [dst, src, len].into_iter().for_each(|e| width(e, pointer, "a pointer or length"));
            }
            Op::Fill { dst, byte, len } => {
                [dst, len].into_iter().for_each(|e| width(e, pointer, "a pointer or length"));
                width(byte, 8, "a byte");
            }
            Op::Call { callee, varargs, .. } => {
                varargs.iter().for_each(|&e| width(e, pointer, "a variadic block"));
                match callee {
                    Callee::Direct(callee) => {
                        self.in_table(callee, p.funcs.len(), edge);
                        self.require(callee != p.entry, edge, || "a call of the program's entry".into());
                    }
                    Callee::Indirect(e) => width(e, pointer, "a function's address"),
                }
            }
            Op::Return { value } => match (value, p.funcs[func].return_width) {
                (Some(value), Some(expected)) => width(value, expected, "a result"),
                (None, None) => {}
                (Some(_), None) => self.fail(edge, "a result of a function without one"),
                (None, Some(_)) => self.fail(edge, "no result of a function that has one"),
            },
            Op::Halt(HaltKind::Exit(code) | HaltKind::ExitNow(code)) => width(code, 32, "an exit code"),
            Op::Halt(_) => {}
            Op::Error(error) => {
                self.in_table(error, p.errors.len(), edge);
            }
            Op::Approx { taint } => {
                self.in_table(taint, p.taints.len(), edge);
            }
        }
    }
}

/// True if two conditions are opposite. If their form does not show it, the function compares their values under some
/// assignments. It never rejects opposite conditions and accepts few others.
fn opposite(pool: &ExprPool, a: ExprId, b: ExprId) -> bool {
    use BinOp::{Sle, Slt, Ule, Ult};
    if pool.width(a) != 1 || pool.width(b) != 1 {
        return false;
    }
    match (pool.get(a), pool.get(b)) {
        (&Expr::Unary(UnOp::Not, x), _) if x == b => return true,
        (_, &Expr::Unary(UnOp::Not, y)) if y == a => return true,
        (&Expr::Binary(op, x, y), &Expr::Binary(other, v, w)) if (x, y) == (w, v) => match (op, other) {
            (Ult, Ule) | (Ule, Ult) | (Slt, Sle) | (Sle, Slt) => return true,
            _ => {}
        },
        (Expr::Const(x), Expr::Const(y)) => return x != y,
        _ => {}
    }
    (0..8u64).all(|round| {
        let leaf = |e: ExprId, node: &Expr| {
            let tag = match node {
                Expr::Var(v) => v.index() as u64 * 4,
                Expr::GlobalAddr(g) => g.index() as u64 * 4 + 1,
                Expr::FuncAddr(f) => f.index() as u64 * 4 + 2,
                _ => 3,
            };
            // First the extreme values, then a multiplicative hash.
            let word = match round {
                0 => 0,
                1 => u64::MAX,
                2 => 1,
                _ => (tag + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(11 * round as u32) ^ round,
            };
            Value::Bv(Bv::from_i64(pool.width(e), word as i64))
        };
        let mut values = Evaluator::new(pool, leaf);
        values.eval(a) != values.eval(b)
    })
}
