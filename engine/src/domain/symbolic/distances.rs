//! Distances of pointers that a loop moves. Addresses are not numbers, but the distance of two pointers into one object
//! is the difference of their offsets. Counters and comparisons of a loop are often related to it. For example,
//! `while (p < end) { p++; n++; }` ends with `n == end - start`, since `p - start == n` holds whenever control is at
//! the head.

use super::rows::is_pointer;
use super::state::State;
use crate::semantics::{Execution, Val};
use cfa::{Expr, ExprId, ExprPool, LocId, Op, Program, VarId};
use rustc_hash::FxHashSet;

/// Maximal number of distances per loop.
const DISTANCES: usize = 8;

/// The distance `to - from` between two pointers. A loop moves `to`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Distance {
    /// The pointer that the loop moves: a variable.
    pub to: ExprId,
    /// The other pointer: a variable, or the address of a global.
    pub from: ExprId,
}

impl Distance {
    /// The distance as a term.
    pub fn term(self, pool: &mut ExprPool) -> ExprId {
        pool.sub(self.to, self.from)
    }

    /// The distance in a state. `None` if the pointers are not known to be in one object, or one of them is unset.
    pub(super) fn evaluate(self, st: &State, execution: &mut Execution) -> Option<Val> {
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

/// The distances from pointers of a loop's function to pointers among `watched` that the loop modifies. `locs` are the
/// locations of the function.
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
