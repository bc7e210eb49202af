//! Slices that grow with the infeasible paths met.

use crate::cpa::Goal;
use cfa::{EdgeId, Id, Op, Program};
use rustc_hash::FxHashSet;
use slicer::Criterion;

/// What an infeasible path makes a criterion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Criteria {
    /// The branches on it, and its last operation.
    TargetPath,
    /// Its last operation.
    TargetLocation,
}

/// The part of a program that what was met so far depends on.
pub(crate) struct Slices<'p> {
    program: &'p Program,
    dependences: slicer::Analysis<'p>,
    criteria: Criteria,
    taken: FxHashSet<EdgeId>,
    slice: Vec<bool>,
}

impl<'p> Slices<'p> {
    /// Starts with an empty slice. An error if the dependences cannot be found within the slicer's limits.
    pub fn new(program: &'p Program, criteria: Criteria, options: slicer::Options) -> Result<Self, slicer::Error> {
        let options = slicer::Options { cut_off: false, keep_under_approximations: false, ..options };
        let mut dependences = slicer::Analysis::new(program, &[], &options)?;
        // Whether an operation is a fault can be told only with all that it depends on.
        let faults: Vec<Criterion> =
            program.edges.iter().filter(|(_, e)| e.fault.is_some()).map(|(id, _)| Criterion::operation(id)).collect();
        // Whether an object is lost depends on every pointer.
        let leaks = program.edges.values().any(|e| e.fault.is_some() && matches!(e.op, Op::Leak(_)));
        let slice = match (leaks, faults.is_empty()) {
            (true, _) => vec![true; program.edges.len()],
            (false, true) => vec![false; program.edges.len()],
            (false, false) => dependences.slice(&faults).kept,
        };
        Ok(Self { program, dependences, criteria, taken: FxHashSet::default(), slice })
    }

    /// Operations in the slice.
    pub fn len(&self) -> usize {
        self.slice.iter().filter(|kept| **kept).count()
    }

    pub fn has(&self, edge: EdgeId) -> bool {
        self.slice[edge.index()]
    }

    /// Adds what refuting the path depends on; whether that is more.
    pub fn grow(&mut self, path: &[EdgeId], goal: Goal) -> bool {
        self.grow_by(self.criteria, path, goal)
    }

    /// The same with all branches on the path, also where only its end was to be a criterion: a path that the slice has and the
    /// program does not is refuted by them.
    pub fn grow_along(&mut self, path: &[EdgeId], goal: Goal) -> bool {
        self.grow_by(Criteria::TargetPath, path, goal)
    }

    /// The last operation of a path: of an error in a function that does nothing but fail, the call on the path. The error itself
    /// would stand for the ends of all paths to it, and the slice for all calls of the function.
    fn last(&self, path: &[EdgeId], goal: Goal) -> EdgeId {
        let op = |edge: EdgeId| &self.program.edges[edge].op;
        match path.last() {
            Some(&call) if matches!((op(call), op(goal.edge())), (Op::Call { .. }, Op::Error(_))) => call,
            _ => goal.edge(),
        }
    }

    fn grow_by(&mut self, criteria: Criteria, path: &[EdgeId], goal: Goal) -> bool {
        let mut new = vec![self.last(path, goal)];
        if criteria == Criteria::TargetPath {
            new.extend(path.iter().filter(|&&e| matches!(self.program.edges[e].op, Op::Assume { .. })));
        }
        new.retain(|&e| self.taken.insert(e) && !self.has(e));
        if new.is_empty() {
            return false;
        }
        let criteria: Vec<Criterion> = new.into_iter().map(Criterion::operation).collect();
        let kept = self.dependences.slice(&criteria).kept;
        let before = self.len();
        self.slice.iter_mut().zip(&kept).for_each(|(has, &kept)| *has |= kept);
        self.len() > before
    }
}
