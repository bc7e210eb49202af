//! Abstract interpretation: bounds, known bits, congruences and small value sets of all variables at all joins (Cousot,
//! Cousot: Abstract interpretation, POPL 1977).
//!
//! [`Invariants`] covers variables of up to 64 bits. It does not analyse memory, so a loaded value may be anything. Its
//! results therefore hold for every execution up to its first invalid operation, whatever the execution does with
//! memory. The analysis is context-insensitive, also for recursion. Its cost is nearly linear in the size of the
//! program. [`Discharged`] analyses memory as well.

mod discharge;
mod fixpoint;
mod handlers;
#[cfg(test)]
mod laws;
mod location;
mod memory;
pub mod observed;
mod undefined;
mod value;

pub use discharge::{Discharged, Unknown};
pub(crate) use fixpoint::thresholds::thresholds;
pub use location::LocationInvariants;
pub(crate) use memory::environment::{Environment, Rows};
pub use value::Value;
pub use value::congruence::Congruence;
pub(crate) use value::resized;

use certificate::Certificate;
use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::{BinOp, CallGraph, Callee, ExprId, ExprPool, FuncId, Id, LocId, Op, Program, VarId};
use rustc_hash::FxHashMap;
use smt::bounds::Bounds;
use smt::budget::Budget;

/// Facts that hold whenever execution reaches a location.
pub struct Invariants {
    rows: Rows,
    /// The environments at reachable nodes: function entries, loop heads, joins and calls.
    envs: FxHashMap<LocId, Environment>,
    reached: Vec<bool>,
    /// The results of functions that return.
    results: FxHashMap<FuncId, Value>,
}

impl Invariants {
    /// Analyses the program. `None` if the budget is spent before the analysis is complete.
    pub fn new(program: &Program, budget: &Budget) -> Option<Self> {
        fixpoint::Analysis::new(program).run(budget)
    }

    /// True if execution may reach `loc`.
    pub fn is_reachable(&self, loc: LocId) -> bool {
        self.reached[loc.index()]
    }

    /// True if no error edge is reachable, no reachable edge drops behaviours, and no reachable call has an unknown
    /// callee.
    pub fn prove(&self, program: &Program) -> bool {
        let is_indirect = |op: &Op| matches!(op, Op::Call { callee: Callee::Indirect(_), .. });
        let calls = program.edges.values().any(|e| is_indirect(&e.op)).then(|| CallGraph::new(program));
        !program.edges.iter().any(|(id, edge)| {
            let counts = match &edge.op {
                Op::Error(_) => true,
                // Memory is not analysed.
                _ if edge.fault.is_some() => true,
                Op::Approx { taint } => program.taints[*taint].under,
                op if is_indirect(op) => calls.as_ref().is_some_and(|c| c.callees(program, id).as_slice().is_empty()),
                _ => false,
            };
            counts && self.is_reachable(edge.source)
        })
    }

    /// The value of a global or of a local of the function, at a loop head or function entry. `None` if it is unknown
    /// or if the location is unreachable.
    pub fn value(&self, loc: LocId, var: VarId) -> Option<&Value> {
        self.envs.get(&loc)?.get(&self.rows, var)
    }

    /// The value of a function's result; `None` if it is unknown.
    pub fn result(&self, func: FuncId) -> Option<&Value> {
        self.results.get(&func)
    }

    /// The value of a variable as conditions.
    pub fn facts(&self, program: &Program, pool: &mut ExprPool, loc: LocId, var: VarId) -> Vec<ExprId> {
        match self.value(loc, var) {
            Some(value) => {
                let x = pool.var(var, program.vars[var].width);
                value.facts(pool, x)
            }
            None => Vec::new(),
        }
    }

    /// A certificate with the values of C variables at loop heads. The facts hold, but they may not suffice for a
    /// proof.
    pub fn certificate(&self, program: &Program) -> Certificate {
        let mut certificate = Certificate::new(program.exprs.clone());
        let mut vars: FxHashMap<Option<FuncId>, Vec<VarId>> = FxHashMap::default();
        for (id, var) in program.vars.iter().filter(|(_, v)| v.name.is_some()) {
            vars.entry(var.func()).or_default().push(id);
        }
        for (func, graph) in CfaGraphs::new(program).funcs.iter() {
            for l in LoopForest::new(&graph.graph, 0).loops() {
                let head = graph.locs[l.head as usize];
                let in_scope = [None, Some(func)].into_iter().filter_map(|f| vars.get(&f)).flatten();
                let facts = in_scope.flat_map(|&v| self.facts(program, &mut certificate.pool, head, v));
                let facts: Vec<ExprId> = facts.collect();
                if !facts.is_empty() {
                    certificate.heads.insert(head, facts);
                }
            }
        }
        certificate
    }
}

/// Larger moduli are not worth the cost of a remainder in the solver.
const LARGEST_MODULUS: u128 = 1 << 10;

impl Value {
    /// Conditions that are equivalent to, or implied by, `x` being in this set.
    pub fn facts(&self, pool: &mut ExprPool, x: ExprId) -> Vec<ExprId> {
        let width = self.width();
        if let Some(members) = &self.members
            && members.len() <= 8
        {
            let mut any = pool.bool(false);
            for &v in members.iter() {
                let c = pool.int(width, v);
                let equal = pool.eq(x, c);
                any = pool.or(any, equal);
            }
            return vec![any];
        }
        let full = Bounds::full(width);
        let r = &self.range;
        let mut facts = Vec::new();
        let mut bound = |pool: &mut ExprPool, op, low: u64, high: u64, lowest: u64, highest: u64| {
            if low != lowest {
                let c = pool.int(width, low);
                facts.push(pool.binary(op, c, x));
            }
            if high != highest {
                let c = pool.int(width, high);
                facts.push(pool.binary(op, x, c));
            }
        };
        // If all values have the same sign, the signed and the unsigned order agree.
        let one_sign = r.min >= 0 || r.max < 0;
        if !one_sign {
            bound(pool, BinOp::Sle, r.min as u64, r.max as u64, full.min as u64, full.max as u64);
        }
        bound(pool, BinOp::Ule, r.low, r.high, full.low, full.high);
        let common = r.low ^ r.high;
        let implied = if common == 0 { u64::MAX } else { !(u64::MAX >> common.leading_zeros()) };
        let known = (r.zeros | r.ones) & full.high & !implied;
        if known != 0 {
            let mask = pool.int(width, known);
            let bits = pool.int(width, r.ones & known);
            let part = pool.and(x, mask);
            facts.push(pool.eq(part, bits));
        }
        let modulus = self.congruence.modulus;
        if modulus > 1 && !modulus.is_power_of_two() && modulus <= LARGEST_MODULUS && modulus <= u128::from(full.high) {
            let m = pool.int(width, modulus as u64);
            let rest = pool.int(width, self.congruence.rest as u64);
            let remainder = pool.binary(BinOp::URem, x, m);
            facts.push(pool.eq(remainder, rest));
        }
        facts
    }
}
