//! Differences of counters: `a <= b + c` for variables that a loop counts up or down. Difference bounds (Miné, A new
//! numerical abstract domain based on difference-bound matrices, PADO 2001) within packs that the program's text chooses
//! (Blanchet et al., PLDI 2003): a counter, and a counter that a branch depends on.

use super::environment::{Environment, Rows};
use super::relations::{Gap, variables};
use cfa::{Expr, ExprId, ExprPool, FuncId, Op, Program, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::bounds::Bounds;

/// Largest number of copies between a variable and the value that is added to it.
const COPIES: usize = 4;
/// Largest number of pairs of a function.
const PAIRS: usize = 24;

/// The counters of each function, in pairs without a known difference.
pub fn pairs(program: &Program) -> Vec<Vec<Gap>> {
    // The variables with one assignment, and its value.
    let mut assigned: FxHashMap<VarId, Option<ExprId>> = FxHashMap::default();
    for edge in program.edges.values() {
        if let Op::Assign { var, value } = edge.op {
            assigned.entry(var).and_modify(|known| *known = None).or_insert(Some(value));
        }
    }
    let made = |of: VarId| assigned.get(&of).copied().flatten();
    let mut counters: FxHashMap<FuncId, Vec<VarId>> = FxHashMap::default();
    let mut tested: FxHashSet<VarId> = FxHashSet::default();
    for (id, edge) in program.edges.iter() {
        match edge.op {
            Op::Assign { var, value } if step(&program.exprs, var, value, &made).is_some() => {
                let of_func = counters.entry(program.func_of(id)).or_default();
                if program.vars[var].func().is_some() && !of_func.contains(&var) {
                    of_func.push(var);
                }
            }
            Op::Assume { cond, .. } => tested.extend(variables(&program.exprs, cond)),
            _ => {}
        }
    }
    let none = Vec::new();
    let of_func = |func: FuncId| {
        let counters = counters.get(&func).unwrap_or(&none);
        let fits =
            |&(a, b): &(VarId, VarId)| a != b && program.vars[a].width == program.vars[b].width && tested.contains(&b);
        let all = counters.iter().flat_map(|&a| counters.iter().map(move |&b| (a, b)));
        let pair = |(a, b)| Gap { a, b, more: i64::MAX, width: program.vars[a].width };
        all.filter(fits).take(PAIRS).map(pair).collect()
    };
    program.funcs.ids().map(of_func).collect()
}

/// If an assignment adds a constant to a variable: the constant, and the variable or a copy of it to which it is added.
/// `made` returns the value of a copy.
fn step(pool: &ExprPool, var: VarId, value: ExprId, made: &dyn Fn(VarId) -> Option<ExprId>) -> Option<(VarId, i64)> {
    let mut value = value;
    for _ in 0..COPIES {
        let Expr::Var(of) = *pool.get(value) else { break };
        value = made(of).filter(|_| of != var)?;
    }
    let (base, by) = pool.base_and_offset(value);
    let (&Expr::Var(added_to), width @ ..=64) = (pool.get(base), pool.width(value)) else { return None };
    if by == 0 {
        return None;
    }
    let mut of = added_to;
    for _ in 0..COPIES {
        if of == var {
            return Some((added_to, Bounds::constant(width, by).min));
        }
        let Expr::Var(copied) = *pool.get(made(of)?) else { break };
        of = copied;
    }
    None
}

impl Environment {
    /// The least known `c` in `a <= b + c`.
    fn gap(&self, rows: &Rows, (a, b): (VarId, VarId)) -> Option<i64> {
        let known = self.recent.gaps().iter().find(|gap| (gap.a, gap.b) == (a, b)).map(|gap| gap.more);
        let apart = self.get(rows, a).zip(self.get(rows, b)).and_then(|(a, b)| a.range.max.checked_sub(b.range.min));
        known.into_iter().chain(apart).min()
    }

    /// The differences that hold in both environments. A difference that grows is dropped if `is_widened`.
    pub fn joined_gaps(&self, o: &Self, rows: &Rows, pairs: &[Gap], is_widened: bool) -> Vec<Gap> {
        let joined = |&Gap { a, b, width, .. }: &Gap| {
            let (before, more) = (self.gap(rows, (a, b))?, o.gap(rows, (a, b))?);
            let apart = |env: &Self| {
                let (high, low) = (env.get(rows, a)?.range.max, env.get(rows, b)?.range.min);
                Some((high, low))
            };
            let more = more.max(before);
            let told = apart(self).zip(apart(o)).and_then(|((x, y), (v, w))| x.max(v).checked_sub(y.min(w)));
            let is_new = told.is_none_or(|told| more < told);
            (is_new && (more == before || !is_widened)).then_some(Gap { a, b, more, width })
        };
        if pairs.is_empty() { Vec::new() } else { pairs.iter().filter_map(joined).collect() }
    }

    /// The differences after an assignment.
    pub fn moved_gaps(&self, rows: &Rows, pool: &ExprPool, var: VarId, value: ExprId) -> Vec<Gap> {
        if self.recent.gaps().is_empty() {
            return Vec::new();
        }
        let full = Bounds::full(pool.width(value).min(64));
        let step = step(pool, var, value, &|of| self.recent.definition(of)).and_then(|(of, step)| {
            let fits = |v: i64| v.checked_add(step).is_some_and(|v| (full.min..=full.max).contains(&v));
            self.bounded(rows, of).filter(|value| fits(value.range.min) && fits(value.range.max)).map(|_| step)
        });
        let moved = |gap: &Gap| {
            let by = match (gap.a == var, gap.b == var) {
                (false, false) => Some(0),
                (true, _) => step,
                (_, true) => step.and_then(i64::checked_neg),
            };
            Some(Gap { more: gap.more.checked_add(by?)?, ..*gap })
        };
        self.recent.gaps().iter().filter_map(moved).collect()
    }

    /// The bounds of a variable by its differences to others.
    pub(super) fn within_gaps(&self, rows: &Rows, var: VarId) -> Option<Bounds> {
        let width = self.recent.gaps().iter().find(|gap| gap.a == var || gap.b == var)?.width;
        let full = Bounds::full(width);
        let (mut low, mut high) = (full.min, full.max);
        for gap in self.recent.gaps() {
            if gap.a == var {
                let most = self.get(rows, gap.b).and_then(|b| b.range.max.checked_add(gap.more));
                high = most.map_or(high, |most| most.min(high));
            }
            if gap.b == var {
                let least = self.get(rows, gap.a).and_then(|a| a.range.min.checked_sub(gap.more));
                low = least.map_or(low, |least| least.max(low));
            }
        }
        ((low, high) != (full.min, full.max) && low <= high).then(|| Bounds::signed(width, low, high)).flatten()
    }
}
