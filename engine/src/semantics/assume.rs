//! Values that conditions imply, for states without terms.

use super::Execution;
use super::state::State;
use super::value::{Val, mask};
use cfa::{BinOp, Expr, ExprId, UnOp};

impl Execution<'_> {
    /// Assumes that `cond`, whose value is unknown, is true or false. An equation with a constant, or a boolean
    /// variable, gives its variable a value.
    pub fn assume_value(&mut self, mut st: State, cond: ExprId, holds: bool) -> State {
        let mut facts = vec![(cond, holds)];
        while let Some((e, holds)) = facts.pop() {
            match *self.terms.get(e) {
                Expr::Unary(UnOp::Not, a) if self.terms.width(a) == 1 => facts.push((a, !holds)),
                Expr::Binary(BinOp::And, a, b) if holds && self.terms.width(a) == 1 => {
                    facts.extend([(a, true), (b, true)])
                }
                Expr::Binary(BinOp::Or, a, b) if !holds && self.terms.width(a) == 1 => {
                    facts.extend([(a, false), (b, false)]);
                }
                Expr::Binary(BinOp::Eq, a, b) if holds => {
                    for (unknown, known) in [(a, b), (b, a)] {
                        if let Val::Int(v) = self.eval(&st, known) {
                            assign_unknown(self, &mut st, unknown, v);
                        }
                    }
                }
                Expr::Var(_) if self.terms.width(e) == 1 => assign_unknown(self, &mut st, e, u64::from(holds)),
                _ => {}
            }
        }
        st
    }
}

/// Assigns to the unknown variable below the extensions of `e` the value for which `e` equals `v`.
fn assign_unknown(ex: &mut Execution, st: &mut State, mut e: ExprId, v: u64) {
    loop {
        match *ex.terms.get(e) {
            Expr::Var(var) => {
                if ex.read_var(st, var) == Val::Unknown {
                    let width = ex.program.vars[var].width;
                    ex.write_var(st, var, Val::Int(mask(width, v)));
                }
                return;
            }
            Expr::Zext { arg, .. } | Expr::Sext { arg, .. } if ex.terms.width(arg) <= 64 => e = arg,
            _ => return,
        }
    }
}
