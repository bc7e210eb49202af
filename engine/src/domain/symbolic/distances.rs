//! How far pointers that a loop moves have got: numbers, which the addresses themselves are not. Two pointers into one object differ by
//! their offsets, and what a loop counts or compares goes with that: `while (p < end) { p++; n++; }` leaves `n` at `end - start` because
//! `p - start` is `n` whenever control is at its head.

use super::rows::is_pointer;
use super::state::State;
use crate::semantics::{Execution, Val};
use cfa::{Expr, ExprId, ExprPool, LocId, Op, Program, VarId};
use rustc_hash::FxHashSet;

/// Distances per loop.
const DISTANCES: usize = 8;

/// Between two pointers, of which a loop moves the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Distance {
    pub to: ExprId,
    pub from: ExprId,
}

impl Distance {
    pub fn term(self, pool: &mut ExprPool) -> ExprId {
        pool.sub(self.to, self.from)
    }

    /// What it is in a state; `None` if the two are not known to be in one object, or one is not set yet: to read it would be an error of the program.
    pub(super) fn of(self, st: &State, execution: &mut Execution) -> Option<Val> {
        for e in [self.to, self.from] {
            if let Expr::Var(v) = *execution.terms.get(e)
                && execution.read_var(st, v) == Val::Unset
            {
                return None;
            }
        }
        let (to, from) = (execution.eval(st, self.to), execution.eval(st, self.from));
        let terms = &mut execution.terms;
        let (object, other) = (terms.object_of(to)?, terms.object_of(from)?);
        let width = terms.pointer_width;
        let (to, from) = (terms.term(to, width), terms.term(from, width));
        let distance = terms.sub(to, from);
        (object == other).then(|| terms.classify(distance))
    }
}

/// The distances of the pointers among `watched` that the loop of a function at `locs` moves from other pointers that the function
/// calculates with.
pub(super) fn distances(program: &Program, locs: &[LocId], watched: &[VarId], modified: &[VarId]) -> Vec<Distance> {
    let (mut vars, mut globals) = (Vec::new(), Vec::new());
    let mut seen = FxHashSet::default();
    for edge in locs.iter().flat_map(|&loc| program.out_edges(loc)) {
        let (Op::Assign { value: e, .. } | Op::Assume { cond: e, .. }) = program.edges[edge].op else { continue };
        program.exprs.visit(e, &mut seen, |part, node| match *node {
            Expr::Var(v) if watched.contains(&v) && is_pointer(program, v) => vars.push((v, part)),
            Expr::GlobalAddr(_) => globals.push(part),
            _ => {}
        });
    }
    vars.sort_unstable();
    globals.sort_unstable();
    let (moved, kept): (Vec<_>, Vec<_>) = vars.into_iter().partition(|(v, _)| modified.contains(v));
    let moved: Vec<ExprId> = moved.into_iter().map(|(_, e)| e).collect();
    let starts: Vec<ExprId> = kept.into_iter().map(|(_, e)| e).chain(globals).collect();
    let mut all = Vec::new();
    for (i, &to) in moved.iter().enumerate() {
        let others = moved[i + 1..].iter().chain(&starts);
        all.extend(others.map(|&from| Distance { to, from }));
    }
    all.truncate(DISTANCES);
    all
}
