//! Differences of counters: `a <= b + c` for variables that a loop counts up or down, or where `b` is multiplied: the
//! number of elements and the capacity of a buffer that grows. Also `a <= b` for a variable and its copy that a branch
//! replaces by a constant: `b = a ? a : 1`. Difference bounds (Miné, A new
//! numerical abstract domain based on difference-bound matrices, PADO 2001) within packs that the program's text chooses
//! (Blanchet et al., PLDI 2003): a counter, and a counter that a branch depends on; a copy, and its original.

use super::environment::{Environment, Rows};
use super::relations::{Gap, variables};
use crate::invariant::value::Value;
use crate::invariant::value::limits::Limit;
use cfa::{BinOp, Expr, ExprId, ExprPool, FuncId, Op, Program, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::bounds::Bounds;

/// Largest number of copies between a variable and the value that is added to it.
const COPIES: usize = 4;
/// Largest number of pairs of a function.
const PAIRS: usize = 24;

/// A change of a variable.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    /// A constant is added.
    Plus(i64),
    /// The variable is multiplied by a constant greater than 0.
    Times(u64),
}

impl Gap {
    /// The least and the greatest number of an abstract value.
    fn ends(&self, bounds: &Bounds) -> (i128, i128) {
        match self.is_signed {
            true => (bounds.min.into(), bounds.max.into()),
            false => (bounds.low.into(), bounds.high.into()),
        }
    }
    /// True if these numbers have the width.
    fn fits(&self, least: i128, greatest: i128) -> bool {
        let (low, high) = self.ends(&Bounds::full(self.width));
        low <= least && greatest <= high
    }
    fn is_between(&self, a: VarId, b: VarId) -> bool {
        (self.a, self.b) == (a, b)
    }
    fn with(self, more: i128) -> Option<Self> {
        Some(Self { more: i64::try_from(more).ok()?, ..self })
    }
}

/// The counters of each function, and the copies that branches replace by constants with their originals, in pairs without
/// a known difference.
pub fn pairs(program: &Program) -> Vec<Vec<Gap>> {
    // The variables with assignments, and the values of these.
    let mut assigned: FxHashMap<VarId, Vec<ExprId>> = FxHashMap::default();
    for edge in program.edges.values() {
        if let Op::Assign { var, value } = edge.op {
            assigned.entry(var).or_default().push(value);
        }
    }
    let made = |of: VarId| match assigned.get(&of)?[..] {
        [value] => Some(value),
        _ => None,
    };
    // Each counter, and whether it is multiplied.
    let mut counters: FxHashMap<FuncId, Vec<(VarId, bool)>> = FxHashMap::default();
    let [mut tested, mut signed] = [const { FxHashSet::with_hasher(rustc_hash::FxBuildHasher) }; 2];
    for (id, edge) in program.edges.iter() {
        match edge.op {
            Op::Assign { var, value } if program.vars[var].func().is_some() => {
                let Some((_, change)) = change(&program.exprs, var, value, &made) else { continue };
                let of_func = counters.entry(program.func_of(id)).or_default();
                let counter = (var, matches!(change, Change::Times(_)));
                if !of_func.contains(&counter) {
                    of_func.push(counter);
                }
            }
            Op::Assume { cond, .. } => {
                tested.extend(variables(&program.exprs, cond));
                program.exprs.visit(cond, &mut FxHashSet::default(), |e, node| {
                    if let Expr::Binary(BinOp::Slt | BinOp::Sle, ..) = node {
                        signed.extend(variables(&program.exprs, e));
                    }
                });
            }
            _ => {}
        }
    }
    let mut replaced: FxHashMap<FuncId, Vec<(VarId, VarId)>> = FxHashMap::default();
    for (&copy, values) in &assigned {
        if let ([a, b], Some(func)) = (&values[..], program.vars[copy].func())
            && let Some(original) = [(a, b), (b, a)].into_iter().find_map(|(value, other)| {
                let (&Expr::Var(original), Some(_)) = (program.exprs.get(*value), program.exprs.as_const(*other))
                else {
                    return None;
                };
                let is_local = original != copy && program.vars[original].func() == Some(func);
                (is_local && program.vars[copy].width <= 64 && tested.contains(&original)).then_some(original)
            })
        {
            replaced.entry(func).or_default().extend([(original, copy), (copy, original)]);
        }
    }
    replaced.values_mut().for_each(|pairs| pairs.sort_unstable());
    let none = Vec::new();
    let of_func = |func: FuncId| {
        let replaced = replaced.get(&func).into_iter().flatten();
        let replaced =
            replaced.map(|&(a, b)| Gap { a, b, more: i64::MAX, width: program.vars[a].width, is_signed: false });
        let counters = counters.get(&func).unwrap_or(&none);
        let fits = |&((a, is_multiplied), (b, _)): &((VarId, bool), (VarId, bool))| {
            !is_multiplied && a != b && program.vars[a].width == program.vars[b].width && tested.contains(&b)
        };
        let all = counters.iter().flat_map(|&a| counters.iter().map(move |&b| (a, b)));
        let pair = |((a, _), (b, is_multiplied)): ((VarId, bool), (VarId, bool))| {
            let is_signed = !is_multiplied || signed.contains(&b);
            Gap { a, b, more: i64::MAX, width: program.vars[a].width, is_signed }
        };
        all.filter(fits).map(pair).chain(replaced).take(PAIRS).collect()
    };
    program.funcs.ids().map(of_func).collect()
}

/// If an assignment adds a constant to a variable, or multiplies it: the change, and the variable or a copy of it that is
/// changed. `made` returns the value of a copy.
fn change(
    pool: &ExprPool,
    var: VarId,
    value: ExprId,
    made: &dyn Fn(VarId) -> Option<ExprId>,
) -> Option<(VarId, Change)> {
    let mut value = value;
    for _ in 0..COPIES {
        let Expr::Var(of) = *pool.get(value) else { break };
        value = made(of).filter(|_| of != var)?;
    }
    let (base, by) = match *pool.get(value) {
        Expr::Binary(BinOp::Mul | BinOp::Shl, of, by) => (of, pool.as_const(by)?.to_u64()?),
        _ => pool.base_and_offset(value),
    };
    let (&Expr::Var(changed), width @ ..=64) = (pool.get(base), pool.width(value)) else { return None };
    let change = match *pool.get(value) {
        Expr::Binary(BinOp::Mul, ..) if by > 0 => Change::Times(by),
        Expr::Binary(BinOp::Shl, ..) if by < u64::from(width) => Change::Times(1 << by),
        Expr::Binary(BinOp::Add, ..) if by > 0 => Change::Plus(Bounds::constant(width, by).min),
        _ => return None,
    };
    let mut of = changed;
    for _ in 0..COPIES {
        if of == var {
            return Some((changed, change));
        }
        let Expr::Var(copied) = *pool.get(made(of)?) else { break };
        of = copied;
    }
    None
}

impl Environment {
    /// The least known `c` in `a <= b + c`, for the variables of a pair.
    fn gap(&self, rows: &Rows, pair: &Gap) -> Option<i128> {
        let is_it = |gap: &&Gap| gap.is_between(pair.a, pair.b) && gap.is_signed == pair.is_signed;
        let known = self.recent.gaps().iter().find(is_it).map(|gap| gap.more.into());
        let equal = self.recent.are_equal(pair.a, pair.b).then_some(0);
        let apart = self.ends(rows, pair).map(|(high, low)| high - low);
        known.into_iter().chain(equal).chain(apart).min()
    }

    /// The greatest value of `a`, and the least one of `b`.
    fn ends(&self, rows: &Rows, pair: &Gap) -> Option<(i128, i128)> {
        let (a, b) = self.get(rows, pair.a).zip(self.get(rows, pair.b))?;
        Some((pair.ends(&a.range).1, pair.ends(&b.range).0))
    }

    /// The differences that hold in both environments. A difference that grows is dropped if `is_widened`.
    pub fn joined_gaps(&self, o: &Self, rows: &Rows, pairs: &[Gap], is_widened: bool) -> Vec<Gap> {
        let joined = |pair: &Gap| {
            let (before, more) = (self.gap(rows, pair)?, o.gap(rows, pair)?);
            let more = more.max(before);
            let told = self.ends(rows, pair).zip(o.ends(rows, pair));
            let is_new = told.is_none_or(|((x, y), (v, w))| more < x.max(v) - y.min(w));
            pair.with(more).filter(|_| is_new && (more == before || !is_widened))
        };
        if pairs.is_empty() { Vec::new() } else { pairs.iter().filter_map(joined).collect() }
    }

    /// The differences after an assignment.
    pub fn moved_gaps(&self, rows: &Rows, pool: &ExprPool, var: VarId, value: ExprId) -> Vec<Gap> {
        if self.recent.gaps().is_empty() {
            return Vec::new();
        }
        let change = change(pool, var, value, &|of| self.recent.definition(of))
            .and_then(|(of, change)| Some((self.bounded(rows, of)?, change)));
        let moved = |gap: &Gap| {
            if gap.a != var && gap.b != var {
                return Some(*gap);
            }
            let (value, change) = change.as_ref()?;
            let (low, high) = gap.ends(&value.range);
            let more = i128::from(gap.more);
            match *change {
                Change::Plus(step) => {
                    let step = i128::from(step);
                    let more = if gap.a == var { more + step } else { more - step };
                    gap.with(more).filter(|_| gap.fits(low + step, high + step))
                }
                Change::Times(by) if gap.b == var && low >= 0 && gap.fits(0, high.checked_mul(by.into())?) => {
                    gap.with(more - (i128::from(by) - 1).checked_mul(low)?)
                }
                Change::Times(_) => None,
            }
        };
        self.recent.gaps().iter().filter_map(moved).collect()
    }

    /// The bounds of a variable by its differences to others.
    pub(super) fn within_gaps(&self, rows: &Rows, var: VarId) -> Option<Bounds> {
        let width = self.recent.gaps().iter().find(|gap| gap.a == var || gap.b == var)?.width;
        let full = Bounds::full(width);
        let mut bounds = full;
        for gap in self.recent.gaps() {
            let (mut low, mut high) = gap.ends(&full);
            if gap.a == var {
                let most = self.get(rows, gap.b).map(|b| gap.ends(&b.range).1 + i128::from(gap.more));
                high = most.map_or(high, |most| most.min(high));
            }
            if gap.b == var {
                let least = self.get(rows, gap.a).map(|a| gap.ends(&a.range).0 - i128::from(gap.more));
                low = least.map_or(low, |least| least.max(low));
            }
            let found = match gap.is_signed {
                true => Bounds::signed(width, i64::try_from(low).ok()?, i64::try_from(high).ok()?),
                false => Bounds::unsigned(width, u64::try_from(low).ok()?, u64::try_from(high).ok()?),
            };
            bounds = bounds.meet(&found.filter(|_| low <= high)?)?;
        }
        (bounds != full).then_some(bounds)
    }

    /// The offset bounds of a variable by those of larger ones.
    pub(super) fn limits_by_gaps(&self, rows: &Rows, var: VarId) -> Vec<Limit> {
        let mut found = Vec::new();
        for gap in self.recent.gaps().iter().filter(|gap| gap.a == var) {
            let Some(b) = self.get(rows, gap.b).filter(|b| !b.limits.is_empty()) else { continue };
            let is_positive = |value: Option<&Value>| value.is_some_and(|value| value.range.min >= 0);
            // Offset bounds are those of unsigned numbers.
            if gap.is_signed && !(is_positive(self.get(rows, var)) && (gap.more <= 0 || b.range.min >= 0)) {
                continue;
            }
            let by = gap.more.unsigned_abs();
            let moved = |limit: Limit| if gap.more <= 0 { limit.below(by) } else { limit.up_to().plus(by) };
            found.extend(b.limits.iter().filter_map(moved));
        }
        found
    }

    /// Refines the differences by a condition that holds: `a <= b`, or `a < b` if strict.
    pub(super) fn narrow_gaps(
        &mut self,
        rows: &Rows,
        pool: &ExprPool,
        (a, b): (ExprId, ExprId),
        is_strict: bool,
        is_signed: bool,
    ) {
        self.refine_gaps(rows, pool, (a, b), Some(is_signed), |more, most| more.min(most - i128::from(is_strict)));
    }

    /// Refines the differences by a condition that holds: `a` and `b` differ.
    pub(super) fn separate_gaps(&mut self, rows: &Rows, pool: &ExprPool, (a, b): (ExprId, ExprId)) {
        self.refine_gaps(rows, pool, (a, b), None, |more, most| if more == most { more - 1 } else { more });
    }

    /// Sets the constants of the differences between the variables of two expressions. `refined` gets a constant, and the
    /// constant of the difference that is equivalent to `a <= b`. `is_signed` is `None` if the order does not matter.
    fn refine_gaps(
        &mut self,
        rows: &Rows,
        pool: &ExprPool,
        (a, b): (ExprId, ExprId),
        is_signed: Option<bool>,
        refined: impl Fn(i128, i128) -> i128,
    ) {
        if self.recent.gaps().is_empty() {
            return;
        }
        let sum = |e: ExprId| match *pool.get(e) {
            Expr::Var(var) => Some((var, 0)),
            Expr::Binary(BinOp::Add, of, by) => match (pool.get(of), pool.as_const(by)?.to_u64()?) {
                (&Expr::Var(var), by) => Some((var, i128::from(Bounds::constant(pool.width(e), by).min))),
                _ => None,
            },
            _ => None,
        };
        let (Some((x, p)), Some((y, q))) = (sum(a), sum(b)) else { return };
        let (of_x, of_y) = (self.bounded(rows, x), self.bounded(rows, y));
        let narrowed = |gap: &Gap| {
            if !gap.is_between(x, y) {
                return None;
            }
            let ends = |value: &Option<Value>| value.as_ref().map_or(Bounds::full(gap.width), |value| value.range);
            let fits = |value: &Option<Value>, by: i128| {
                let (low, high) = gap.ends(&ends(value));
                gap.fits(low + by, high + by)
            };
            let is_order = is_signed.is_none_or(|is_signed| is_signed == gap.is_signed);
            let holds = is_order && fits(&of_x, p) && fits(&of_y, q);
            gap.with(refined(gap.more.into(), q - p)).filter(|_| holds)
        };
        let gaps = self.recent.gaps().iter().map(|gap| narrowed(gap).unwrap_or(*gap)).collect();
        self.recent.set_gaps(gaps);
    }
}
