//! Analyses that are, or wrap, symbolic execution: what an algorithm asks of the parts inside, however deep they are.

use super::Cpa;
use super::symbolic::SymbolicExecution;
use super::tracking::Tracking;
use cfa::interp::Inputs;

/// Symbolic execution, or a CPA around it.
pub trait Wrapper<'p>: Cpa<Evidence = Inputs> {
    fn symbolic(&self) -> &SymbolicExecution<'p>;
    fn symbolic_mut(&mut self) -> &mut SymbolicExecution<'p>;
    /// If its states keep only what is tracked.
    fn tracking(&self) -> Option<&Tracking<'p>> {
        None
    }
    fn tracking_mut(&mut self) -> Option<&mut Tracking<'p>> {
        None
    }
    /// Operations in a slice that grows.
    fn sliced(&self) -> usize {
        0
    }
}
