//! Slices that grow with the infeasible paths found.

use crate::analysis::Goal;
use cfa::interp::{Inputs, Limits};
use cfa::{EdgeId, ErrorId, Id, Op, Out, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use slicer::Criterion;
use std::rc::Rc;

/// Maximal number of edges of the run that confirms inputs of a slice on the program.
const STEPS: u64 = 1_000_000;

/// The slicing criteria that an infeasible path adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Criteria {
    /// The branches on the path, and its last operation.
    TargetPath,
    /// The last operation of the path.
    TargetLocation,
}

/// The current slice of a program, and the slices of single targets.
pub(crate) struct Slices<'p> {
    program: &'p Program,
    dependences: slicer::Analysis<'p>,
    /// The criteria that an infeasible path adds.
    pub criteria: Criteria,
    taken: FxHashSet<EdgeId>,
    slice: Rc<[bool]>,
    /// The slices for single targets. `None` if the program does not follow the slice.
    of_targets: FxHashMap<EdgeId, Option<Rc<[bool]>>>,
}

/// True if a slice executes the operation of an edge. Calls and returns are always executed, because paths are paths of
/// the program.
pub(crate) fn executes(program: &Program, slice: &[bool], edge: EdgeId) -> bool {
    match (&program.edges[edge].op, program.locs[program.edges[edge].source].out) {
        (Op::Call { .. } | Op::Return { .. } | Op::Approx { .. } | Op::Error(_) | Op::Halt(_), _) => true,
        (_, Out::Branch { then_edge, else_edge }) => slice[then_edge.index()] || slice[else_edge.index()],
        _ => slice[edge.index()],
    }
}

impl<'p> Slices<'p> {
    /// Starts with the operations that faults depend on. Returns an error if the slicer exceeds its limits.
    pub fn new(program: &'p Program, criteria: Criteria, options: slicer::Options) -> Result<Self, slicer::Error> {
        let options = slicer::Options { cut_off: false, keep_under_approximations: false, ..options };
        let mut dependences = slicer::Analysis::new(program, &[], &options)?;
        // An operation can be proved free of faults only with all operations on which it depends.
        let faults: Vec<Criterion> =
            program.edges.iter().filter(|(_, e)| e.fault.is_some()).map(|(id, _)| Criterion::operation(id)).collect();
        // The reachability of an object depends on every pointer.
        let leaks = program.edges.values().any(|e| e.fault.is_some() && matches!(e.op, Op::Leak(_)));
        let slice = match (leaks, faults.is_empty()) {
            (true, _) => vec![true; program.edges.len()],
            (false, true) => vec![false; program.edges.len()],
            (false, false) => dependences.slice(&faults).kept,
        };
        let (taken, of_targets) = (FxHashSet::default(), FxHashMap::default());
        Ok(Self { program, dependences, criteria, taken, slice: slice.into(), of_targets })
    }

    /// The number of operations in the slice.
    pub fn len(&self) -> usize {
        self.slice.iter().filter(|kept| **kept).count()
    }

    /// True if the operation of an edge is executed.
    pub fn has(&self, edge: EdgeId) -> bool {
        executes(self.program, &self.slice, edge)
    }

    /// The current slice.
    pub fn all(&self) -> Rc<[bool]> {
        Rc::clone(&self.slice)
    }

    /// The slice for the last operation of a path, if the criteria are target locations and the program follows that
    /// slice.
    pub fn of_target(&mut self, path: &[EdgeId], goal: Goal) -> Option<Rc<[bool]>> {
        if self.criteria != Criteria::TargetLocation {
            return None;
        }
        let last = self.last(path, goal);
        let dependences = &mut self.dependences;
        let slice = || Some(dependences.slice(&[Criterion::operation(last)]).kept.into());
        self.of_targets.entry(last).or_insert_with(slice).clone()
    }

    /// Extends inputs of the slice for the end of a path to inputs of the program that reach the error. `None` if the
    /// program does not reach it, for example because a loop outside the slice does not terminate. That slice is then
    /// not used again.
    pub fn confirmed(&mut self, path: &[EdgeId], goal: Goal, error: ErrorId, inputs: &Inputs) -> Option<Inputs> {
        let last = self.last(path, goal);
        let limits = Limits { steps: STEPS, ..Limits::default() };
        let slice = self.dependences.slice(&[Criterion::operation(last)]);
        let inputs = slice.inputs_of_original(self.program, inputs, limits);
        if crate::runs::run(self.program, &inputs, error, limits).is_ok() {
            return Some(inputs);
        }
        self.of_targets.insert(last, None);
        None
    }

    /// Adds the criteria of the path. Returns true if the slice has grown.
    pub fn grow(&mut self, path: &[EdgeId], goal: Goal) -> bool {
        self.grow_by(self.criteria, path, goal)
    }

    /// Adds all branches on the path as criteria, even for target locations. They refute a path that is feasible in the
    /// slice but infeasible in the program. Returns true if the slice has grown.
    pub fn grow_along(&mut self, path: &[EdgeId], goal: Goal) -> bool {
        self.grow_by(Criteria::TargetPath, path, goal)
    }

    /// The last operation of a path. For an error in a function that only fails, that is the call on the path. The
    /// error edge itself would represent the ends of all paths to it, and its slice would contain all calls of the
    /// function.
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
        new.retain(|&e| self.taken.insert(e) && !self.slice[e.index()]);
        if new.is_empty() {
            return false;
        }
        let criteria: Vec<Criterion> = new.into_iter().map(Criterion::operation).collect();
        let kept = self.dependences.slice(&criteria).kept;
        let before = self.len();
        self.slice = self.slice.iter().zip(&kept).map(|(&has, &kept)| has || kept).collect();
        self.len() > before
    }
}
