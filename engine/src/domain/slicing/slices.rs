//! Slices that grow with the infeasible paths met.

use crate::analysis::Goal;
use cfa::interp::{Inputs, Limits};
use cfa::{EdgeId, ErrorId, Id, Op, Out, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use slicer::Criterion;
use std::rc::Rc;

/// Edges of a run that is to show that what a slice does the program does as well.
const STEPS: u64 = 1_000_000;

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
    pub criteria: Criteria,
    taken: FxHashSet<EdgeId>,
    slice: Rc<[bool]>,
    /// The slices of targets alone, with the targets as keys; `None` where the program does not do what the slice does.
    of_targets: FxHashMap<EdgeId, Option<Rc<[bool]>>>,
}

/// Whether a slice has the operation of an edge. Calls are entered and left in any case: paths are paths of the program.
pub(crate) fn executes(program: &Program, slice: &[bool], edge: EdgeId) -> bool {
    match (&program.edges[edge].op, program.locs[program.edges[edge].source].out) {
        (Op::Call { .. } | Op::Return { .. } | Op::Approx { .. } | Op::Error(_) | Op::Halt(_), _) => true,
        (_, Out::Branch { then_edge, else_edge }) => slice[then_edge.index()] || slice[else_edge.index()],
        _ => slice[edge.index()],
    }
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
        let (taken, of_targets) = (FxHashSet::default(), FxHashMap::default());
        Ok(Self { program, dependences, criteria, taken, slice: slice.into(), of_targets })
    }

    /// Operations in the slice.
    pub fn len(&self) -> usize {
        self.slice.iter().filter(|kept| **kept).count()
    }

    /// Whether the operation of an edge is executed.
    pub fn has(&self, edge: EdgeId) -> bool {
        executes(self.program, &self.slice, edge)
    }

    /// The slice as it is now.
    pub fn all(&self) -> Rc<[bool]> {
        Rc::clone(&self.slice)
    }

    /// The slice of the end of a path alone, if that is the criterion.
    pub fn of_target(&mut self, path: &[EdgeId], goal: Goal) -> Option<Rc<[bool]>> {
        if self.criteria != Criteria::TargetLocation {
            return None;
        }
        let last = self.last(path, goal);
        let dependences = &mut self.dependences;
        let slice = || Some(dependences.slice(&[Criterion::operation(last)]).kept.into());
        self.of_targets.entry(last).or_insert_with(slice).clone()
    }

    /// Inputs with which the program gets to the error, from those of the slice of the end of a path. Where it does not, since a loop
    /// that the slice lacks does not end, say, that slice is no more asked.
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
