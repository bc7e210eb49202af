//! The violations after which a run continues, before it reaches its error.

use crate::source::{Sources, Spot};
use cfa::interp::{Inputs, Interpreter, Limits, Observer, State};
use cfa::{EdgeId, FunctionOrigin, Op, Program};
use instrument::Continuation;

/// A violation that a run passes. Its error was removed from the program, because it was reported before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passed {
    /// The source position in the user's code.
    pub spot: Spot,
    /// True if it is an invalid access, false if it is a failed check.
    pub is_access: bool,
}

/// An observer of the edges on which a run continues after a violation.
struct Passing<'p> {
    program: &'p Program,
    sources: &'p Sources,
    continuations: &'p [Continuation],
    /// The calls that have not returned, outermost first.
    calls: Vec<EdgeId>,
    found: Vec<Passed>,
}

impl Observer for Passing<'_> {
    fn executed(&mut self, edge: EdgeId, _: &State) {
        match self.program.edges[edge].op {
            Op::Call { .. } => self.calls.push(edge),
            Op::Return { .. } => drop(self.calls.pop()),
            _ => {}
        }
        let Some(continuation) = self.continuations.iter().find(|continuation| continuation.edge == edge) else {
            return;
        };
        let is_users = |edge: &EdgeId| self.program.funcs[self.program.func_of(*edge)].origin == FunctionOrigin::Source;
        let mut active = std::iter::once(edge).chain(self.calls.iter().rev().copied()).filter(is_users);
        let spot = active.find_map(|edge| self.sources.spot(self.program, self.program.edges[edge].place?));
        let Some(spot) = spot else { return };
        let passed = Passed { spot, is_access: continuation.skips_access };
        if !self.found.contains(&passed) {
            self.found.push(passed);
        }
    }
}

/// Runs the program on inputs, and returns the violations after which the run continues, each place once.
pub fn passed(
    program: &Program,
    inputs: &Inputs,
    continuations: &[Continuation],
    sources: &Sources,
    limits: Limits,
) -> Vec<Passed> {
    if continuations.is_empty() {
        return Vec::new();
    }
    let mut passing = Passing { program, sources, continuations, calls: Vec::new(), found: Vec::new() };
    Interpreter::new(program).run(&mut inputs.source(), limits, &mut passing);
    passing.found
}
