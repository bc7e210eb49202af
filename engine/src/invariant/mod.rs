//! Invariants by abstract interpretation: bounds, bits, residues and small sets of values for every variable at every
//! place where paths join (Cousot, Cousot: Abstract interpretation, POPL 1977).
//!
//! Variables of up to 64 bits are tracked, memory is not: what is loaded may be anything. So what is said holds of every
//! execution, whatever it does with memory, up to its first invalid operation. Calls are followed
//! context-insensitively, recursion included. Near linear in the program.

mod discharge;
mod fixpoint;
#[cfg(test)]
mod laws;
mod location;
mod memory;
pub mod observed;
mod value;

pub use discharge::Discharged;
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

/// What holds whenever execution comes to a place.
pub struct Invariants {
    rows: Rows,
    /// At entries of functions, heads of loops, joins and calls that are reachable.
    envs: FxHashMap<LocId, Environment>,
    reached: Vec<bool>,
    /// Of functions that return.
    results: FxHashMap<FuncId, Value>,
}

impl Invariants {
    /// Analyses the program; `None` if the budget is spent before that is done.
    pub fn new(program: &Program, budget: &Budget) -> Option<Self> {
        fixpoint::Analysis::new(program).run(budget)
    }

    /// Whether execution may come to `loc`.
    pub fn is_reachable(&self, loc: LocId) -> bool {
        self.reached[loc.index()]
    }

    /// Whether no error edge can be reached, and no edge after which the program represented lacks behaviours of the program
    /// given; nor a call of no function, after which nothing can be said.
    pub fn prove(&self, program: &Program) -> bool {
        let is_indirect = |op: &Op| matches!(op, Op::Call { callee: Callee::Indirect(_), .. });
        let calls = program.edges.values().any(|e| is_indirect(&e.op)).then(|| CallGraph::new(program));
        !program.edges.iter().any(|(id, edge)| {
            let counts = match &edge.op {
                Op::Error(_) => true,
                // Of memory nothing is known.
                _ if edge.fault.is_some() => true,
                Op::Approx { taint } => program.taints[*taint].under,
                op if is_indirect(op) => calls.as_ref().is_some_and(|c| c.callees(program, id).as_slice().is_empty()),
                _ => false,
            };
            counts && self.is_reachable(edge.source)
        })
    }

    /// What is known of a variable at the head of a loop or the entry of a function: a global, or a local of its
    /// function. `None` if nothing is, or the place is never reached.
    pub fn value(&self, loc: LocId, var: VarId) -> Option<&Value> {
        self.envs.get(&loc)?.get(&self.rows, var)
    }

    /// What is known of a function's result; `None` if nothing is.
    pub fn result(&self, func: FuncId) -> Option<&Value> {
        self.results.get(&func)
    }

    /// The same as conditions over the variable.
    pub fn facts(&self, program: &Program, pool: &mut ExprPool, loc: LocId, var: VarId) -> Vec<ExprId> {
        match self.value(loc, var) {
            Some(value) => {
                let x = pool.var(var, program.vars[var].width);
                value.facts(pool, x)
            }
            None => Vec::new(),
        }
    }

    /// What is known at the heads of loops of variables that C has, in the form of a certificate. It holds, but need not be
    /// enough for a proof.
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

/// Moduli above this are not worth what a remainder costs a solver.
const LARGEST_MODULUS: u128 = 1 << 10;

impl Value {
    /// Conditions that say that `x` is in this set.
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
        // Where all values have one sign, the orders say the same.
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
