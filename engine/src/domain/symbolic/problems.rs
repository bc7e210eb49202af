//! Operations whose effect is not known: taints, or problems that someone looks into.

use super::SymbolicExecution;
use crate::verdict::Reason;
use cfa::{EdgeId, Op};
use rustc_hash::FxHashSet;

/// Something that keeps a proof from being one if a state can really get there.
#[derive(Clone, Debug)]
pub struct Problem {
    pub edge: EdgeId,
    pub reason: Reason,
}

/// What was met where states are abstract, and what is known of it.
#[derive(Default)]
pub struct Problems {
    pub found: Vec<Problem>,
    /// Operations whose problems are recorded as taints; reads among them may give anything.
    settled: FxHashSet<EdgeId>,
}

impl Problems {
    /// Whether it is known that the operation is a problem.
    pub fn is_settled(&self, edge: EdgeId) -> bool {
        self.settled.contains(&edge)
    }

    pub fn settle(&mut self, edge: EdgeId) {
        self.settled.insert(edge);
    }
}

impl SymbolicExecution<'_> {
    /// Whether a fault of the operation is an error.
    pub fn is_watched(&self, edge: EdgeId) -> bool {
        self.execution.program.edges[edge].fault.is_some()
    }

    pub fn is_read(&self, edge: EdgeId) -> bool {
        matches!(self.execution.program.edges[edge].op.unshadowed(), Op::Load { .. })
    }

    /// Whether it is known that the operation is a problem.
    pub fn is_settled(&self, edge: EdgeId) -> bool {
        self.problems.as_ref().is_some_and(|p| p.is_settled(edge))
    }

    /// Records that the behaviour of a path beyond `edge` is not that of the program.
    pub fn problem(&mut self, edge: EdgeId, reason: Reason) {
        let reads = self.is_read(edge) && self.execution.mode.is_abstract;
        match &mut self.problems {
            Some(problems) if !problems.is_settled(edge) => problems.found.push(Problem { edge, reason }),
            // Not where a path is followed that may be infeasible.
            Some(_) if !reads => {}
            _ => self.taints.drop_behaviour(reason),
        }
    }
}
