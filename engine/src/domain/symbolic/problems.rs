//! Undecided operations: they are recorded as taints, or for examination by the caller.

use super::SymbolicExecution;
use crate::verdict::Reason;
use cfa::{EdgeId, Op};
use rustc_hash::FxHashSet;

/// An undecided operation. It prevents a proof if a concrete execution reaches it.
#[derive(Clone, Debug)]
pub struct UndecidedOperation {
    /// The edge of the operation.
    pub edge: EdgeId,
    /// The reason why it is undecided.
    pub reason: Reason,
}

/// The undecided operations that abstract states reached.
#[derive(Default)]
pub struct UndecidedOperations {
    /// The operations found since the list was last cleared.
    pub found: Vec<UndecidedOperation>,
    /// Operations that are recorded as undecided. A read among them yields an arbitrary value.
    recorded: FxHashSet<EdgeId>,
}

impl UndecidedOperations {
    /// True if the operation is recorded as undecided.
    pub fn is_recorded(&self, edge: EdgeId) -> bool {
        self.recorded.contains(&edge)
    }

    /// Records the operation as undecided.
    pub fn record_undecided(&mut self, edge: EdgeId) {
        self.recorded.insert(edge);
    }
}

impl SymbolicExecution<'_> {
    /// True if a fault of the operation is an error.
    pub fn is_watched(&self, edge: EdgeId) -> bool {
        self.execution.program.edges[edge].fault.is_some()
    }

    /// True if the operation is a load.
    pub fn is_read(&self, edge: EdgeId) -> bool {
        matches!(self.execution.program.edges[edge].op.unshadowed(), Op::Load { .. })
    }

    /// True if the operation is recorded as undecided.
    pub fn is_recorded(&self, edge: EdgeId) -> bool {
        self.undecided.as_ref().is_some_and(|p| p.is_recorded(edge))
    }

    /// Records that the paths beyond `edge` do not represent all behaviour of the program there.
    pub fn report_undecided(&mut self, edge: EdgeId, reason: Reason) {
        let reads = self.is_read(edge) && self.execution.mode.is_abstract;
        match &mut self.undecided {
            Some(problems) if !problems.is_recorded(edge) => problems.found.push(UndecidedOperation { edge, reason }),
            // The operation is recorded as undecided already. The current path may be infeasible, so it is no taint.
            Some(_) if !reads => {}
            _ => self.taints.drop_behaviour(reason),
        }
    }
}
