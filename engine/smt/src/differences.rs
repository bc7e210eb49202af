//! A decision procedure for difference constraints.
//!
//! Programs that sort, search and merge only compare their elements. A bit-blaster needs ten milliseconds for the
//! circuits of a chain of six 32-bit comparisons. Here, a set of constraints is a graph with an edge for each `x - y <=
//! c`. A contradiction is a cycle of negative weight. Without one, the distances are a model. A search with backjumping
//! decides disjunctions. It keeps the potentials from one decision to the next (Cotton, Maler: *Fast and flexible
//! difference constraint propagation for DPLL(T)*, SAT 2006). Disjunctions that the potentials satisfy need no
//! decision.
//!
//! A term of `w` bits is a signed or an unsigned integer, or both, with a disjunction that relates the two. Terms `x +
//! c` modulo 2^w and choices between two terms are read likewise. All other constraints are omitted. So a contradiction
//! is one of the whole set. A model counts only if the evaluator confirms it.

mod graph;
mod reading;

use super::integers::{ProcedureResult, confirmed};
use cfa::{Bv, ExprId, ExprPool, Value};
use graph::{Conflict, Edge, Graph};
use reading::Reading;
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximal number of steps over edges: for a set of comparisons of leaves only, and for a set with omitted parts.
const STEPS: u64 = 200_000;
const STEPS_OF_PARTS: u64 = 5_000;

/// A formula over difference constraints.
#[derive(Clone, Debug)]
enum Formula {
    /// An omitted formula; it may have any truth value.
    Open,
    /// The constraint `to - from <= most`.
    Difference {
        from: u32,
        to: u32,
        most: i128,
    },
    All(Vec<Formula>),
    Any(Vec<Formula>),
}

/// A disjunction that the search has to decide.
#[derive(Clone, Copy)]
struct Clause<'f> {
    alternatives: &'f [Formula],
    constraint: u32,
    /// The level of the decision that it depends on.
    level: u32,
}

/// Looks for a contradiction in the difference constraints of `set`, or for a model of `set`.
pub(super) fn solve(pool: &ExprPool, set: &[ExprId]) -> ProcedureResult {
    let Some(reading) = Reading::read(pool, set) else { return ProcedureResult::Unknown };
    let steps = if reading.is_open { STEPS_OF_PARTS } else { STEPS };
    let mut search = Search { graph: Graph::new(reading.nodes(), steps), pending: Vec::new() };
    let mut all = || {
        for (formula, constraint) in &reading.formulas {
            search.add(formula, *constraint, 0)?;
        }
        search.decide(1)
    };
    match all() {
        Ok(()) if reading.is_open => ProcedureResult::Unknown,
        Ok(()) => {
            let value =
                |(leaf, node, width): (ExprId, u32, u32)| (leaf, Value::Bv(bits(search.graph.value(node), width)));
            let values: FxHashMap<ExprId, Value> = reading.leaves().map(value).collect();
            confirmed(pool, set, values)
        }
        Err(Conflict::Spent) => ProcedureResult::Unknown,
        Err(Conflict::Because { constraints, .. }) => {
            // Constraints between a term and its operands always hold, so the core does not contain them.
            let members = constraints.into_iter().filter(|&c| c != reading::OF_TERMS);
            ProcedureResult::Core(members.map(|c| set[c as usize]).collect())
        }
    }
}

fn bits(value: i128, width: u32) -> Bv {
    Bv::new(width, value as u64)
}

/// A search for a feasible combination of the alternatives.
struct Search<'f> {
    graph: Graph,
    /// The disjunctions that are not decided yet.
    pending: Vec<Clause<'f>>,
}

impl<'f> Search<'f> {
    /// Adds a formula of a constraint at a decision level.
    fn add(&mut self, formula: &'f Formula, constraint: u32, level: u32) -> Result<(), Conflict> {
        match formula {
            Formula::Open => Ok(()),
            &Formula::Difference { from, to, most } => self.graph.add(Edge { from, to, most, constraint, level }),
            Formula::All(parts) => parts.iter().try_for_each(|part| self.add(part, constraint, level)),
            Formula::Any(alternatives) => {
                self.pending.push(Clause { alternatives, constraint, level });
                Ok(())
            }
        }
    }

    /// Decides, one after the other, the disjunctions that the potentials do not satisfy.
    fn decide(&mut self, level: u32) -> Result<(), Conflict> {
        self.graph.charge(self.pending.len() as u64)?;
        let open = |c: &Clause<'_>| !c.alternatives.iter().any(|f| self.holds(f));
        let next = (0..self.pending.len()).filter(|&i| open(&self.pending[i]));
        let Some(next) = next.min_by_key(|&i| self.pending[i].alternatives.len()) else { return Ok(()) };
        let clause = self.pending.remove(next);
        let edges = self.graph.len();
        let mut because = (FxHashSet::from_iter([clause.constraint]), FxHashSet::from_iter([clause.level]));
        for alternative in clause.alternatives {
            let before = self.pending.clone();
            let tried = self.add(alternative, clause.constraint, level).and_then(|()| self.decide(level + 1));
            match tried {
                Ok(()) => return Ok(()),
                Err(Conflict::Spent) => return Err(Conflict::Spent),
                Err(Conflict::Because { constraints, levels }) => {
                    self.pending = before;
                    self.graph.truncate(edges);
                    if !levels.contains(&level) {
                        // The conflict does not depend on this decision.
                        return Err(Conflict::Because { constraints, levels });
                    }
                    because.0.extend(constraints);
                    because.1.extend(levels.into_iter().filter(|&l| l != level));
                }
            }
        }
        Err(Conflict::Because { constraints: because.0, levels: because.1 })
    }

    /// Returns true if the current potentials satisfy the formula.
    fn holds(&self, formula: &Formula) -> bool {
        match formula {
            Formula::Open => true,
            Formula::Difference { from, to, most } => self.graph.value(*to) - self.graph.value(*from) <= *most,
            Formula::All(parts) => parts.iter().all(|f| self.holds(f)),
            Formula::Any(parts) => parts.iter().any(|f| self.holds(f)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Bitwuzla, Solver, budget::Budget};
    use cfa::{BinOp, Sort};

    /// Random signed and unsigned comparisons of symbols, sums with constants, extensions and choices over few bits, in
    /// random combinations. Results agree with a bit-blaster, cores are unsatisfiable, and sets without omitted parts
    /// are always decided.
    #[test]
    fn differences_agree_with_bits() {
        let mut below = crate::dice::dice(11);
        let (mut models, mut cores) = (0, 0);
        for round in 0..2_000 {
            let mut pool = ExprPool::new();
            let width = [2, 3, 4, 8, 32, 64][below(6) as usize];
            let leaves: Vec<ExprId> = (0..2 + below(5)).map(|_| pool.fresh_symbol(Sort::Bv(width)).1).collect();
            let narrow = pool.fresh_symbol(Sort::Bv(width - 1)).1;
            let mut terms = leaves.clone();
            let signed = below(3);
            for _ in 0..below(6) {
                let (a, b) = (terms[below(terms.len() as u64) as usize], terms[below(terms.len() as u64) as usize]);
                let c = pool.int(width, [0, 1, 2, u64::MAX, below(300)][below(5) as usize]);
                let e = match below(6) {
                    0 | 1 => pool.add(a, c),
                    2 => pool.zext(width, narrow),
                    3 => pool.sext(width, narrow),
                    4 => c,
                    _ => {
                        let less = pool.binary(BinOp::Slt, a, b);
                        pool.ite(less, a, b)
                    }
                };
                terms.push(e);
            }
            let mut set = Vec::new();
            let alone = below(3) == 0;
            for _ in 0..4 + below(10) {
                let mut e = pool.bool(below(2) == 0);
                let any = pool.is_false(e);
                for _ in 0..=if alone { 0 } else { below(3) } {
                    let a = terms[below(terms.len() as u64) as usize];
                    let b = terms[below(terms.len() as u64) as usize];
                    let op = match below(5) {
                        0 => BinOp::Eq,
                        1 if signed != 0 => BinOp::Slt,
                        2 | 3 if signed == 0 => BinOp::Ult,
                        1..=3 if signed == 2 => BinOp::Ule,
                        _ if signed == 0 => BinOp::Ule,
                        _ => BinOp::Sle,
                    };
                    let one = pool.binary(op, a, b);
                    e = if any { pool.or(e, one) } else { pool.and(e, one) };
                }
                set.push(if below(4) == 0 { pool.not(e) } else { e });
            }
            // Sometimes a product, which the procedure omits.
            if below(8) == 0 {
                let (product, zero) = (pool.mul(leaves[0], leaves[1]), pool.int(width, 0));
                set.push(pool.binary(BinOp::Slt, product, zero));
            }
            set.retain(|&e| pool.as_const(e).is_none());
            let script = crate::smtlib::script(&pool, &set);
            let ask = |set: &[ExprId]| Bitwuzla::new().check(&pool, set, &Budget::unlimited());
            match solve(&pool, &set) {
                ProcedureResult::Model(_) => {
                    models += 1;
                    assert_eq!(ask(&set), Answer::Sat, "{script}");
                }
                ProcedureResult::Core(core) => {
                    cores += 1;
                    assert!(core.iter().all(|e| set.contains(e)));
                    assert_eq!(ask(&core), Answer::Unsat, "{script}");
                }
                ProcedureResult::Unknown => {
                    let open = Reading::read(&pool, &set).is_none_or(|r| r.is_open);
                    assert!(open, "nothing found in round {round}: {script}");
                }
            }
        }
        assert!(models > 500 && cores > 500, "{models} {cores}");
    }
}
