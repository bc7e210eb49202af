//! Ranges of paths (Haltermann, Jakobs, Richter, Wehrheim: Parallel program analysis via range splitting, FASE 2023).
//!
//! Paths are ordered by their assume edges, true before false (section 2.2). A range `[lower, upper]` contains the
//! paths between two paths. Each bound is given by a test case, or missing if the range is unbounded on that side.
//!
//! Range reduction (section 3.2) is a CPA that runs in parallel to another one and removes the paths outside the range.
//! Its states are those of a value analysis that starts with the test case. Since the behaviour is fully determined, a
//! state is only the number of decisions of the bound's path that have been taken ([`reduction`]). While the bound is
//! followed, the product with a program is a finite automaton: the condition that covers all paths outside the range.
//! So a range is a [`Condition`]. The [restricted](crate::restrict::restrict) program is suitable for every analysis,
//! including those that do not explore paths, and for other tools (section 5, Fig. 4).

pub mod reduction;
pub mod split;
pub mod test_case;

use crate::condition::{Condition, StateId, Transition};
use cfa::interp::{InputSource, Interpreter, Limits, Observer, Outcome, State as Execution};
use cfa::{CallGraph, Callee, EdgeId, FuncId, Op, Out, Program};
use engine::analysis::Decision;
use reduction::{Branch, Side};
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// The maximal number of decisions of a bound. A longer path counts as its prefix. This is part of the definition of a
/// bound, so both neighbouring ranges apply it.
pub const MOST_DECISIONS: usize = 10_000;

/// A path as a bound of ranges: its decisions where the CFA has a choice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The decisions.
    pub decisions: Vec<Decision>,
    /// True if the program ends after the last decision. Otherwise the bound is a prefix, and its extensions lie above
    /// it.
    pub complete: bool,
}

/// The paths between two bounds, including the bounds.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Range {
    /// The lower bound, if any.
    pub lower: Option<Bound>,
    /// The upper bound, if any.
    pub upper: Option<Bound>,
}

impl Bound {
    /// The path of a run, up to the maximal length of a bound.
    pub fn of_run(program: &Program, inputs: &mut dyn InputSource, limits: Limits) -> Self {
        let mut watch = Decisions { decisions: Vec::new() };
        let run = Interpreter::new(program).run(inputs, limits, &mut watch);
        let ends = matches!(run.outcome, Outcome::Exit(_) | Outcome::Abort | Outcome::Assumed | Outcome::Error(..));
        let complete = ends && watch.decisions.len() <= MOST_DECISIONS;
        watch.decisions.truncate(MOST_DECISIONS);
        Self { decisions: watch.decisions, complete }
    }

    /// The order of paths. A prefix precedes its extensions.
    pub fn compare(&self, other: &Self, program: &Program) -> Ordering {
        for (a, b) in self.decisions.iter().zip(&other.decisions) {
            let order = match (a, b) {
                (Decision::Branch(a), Decision::Branch(b)) => {
                    Branch::from_edge(program, *a).cmp(&Branch::from_edge(program, *b))
                }
                (Decision::Callee(a), Decision::Callee(b)) => a.cmp(b),
                _ => unreachable!("paths that have gone the same way so far"),
            };
            if order != Ordering::Equal {
                return order;
            }
        }
        // A complete path ends at its last decision, so it precedes its extensions.
        (self.decisions.len(), self.complete).cmp(&(other.decisions.len(), other.complete))
    }
}

impl Range {
    /// The condition that covers the paths of `program` outside the range: the product of the program and both range
    /// reductions, while they follow their bounds.
    pub fn outside(&self, program: &Program) -> Condition {
        self.automaton(program, false)
    }

    /// The condition that covers the paths inside the range, as soon as they have left both bounds.
    pub fn inside(&self, program: &Program) -> Condition {
        self.automaton(program, true)
    }

    fn automaton(&self, program: &Program, accepts_inside: bool) -> Condition {
        let mut condition = Condition::nothing();
        let outside = condition.add(!accepts_inside);
        let inside = condition.add(accepts_inside);
        let start = Position { lower: self.lower.as_ref().map(|_| 0), upper: self.upper.as_ref().map(|_| 0) };
        let mut product = Product {
            program,
            range: self,
            condition,
            outside,
            inside,
            callees: called_through_pointers(program),
            numbers: FxHashMap::default(),
            todo: Vec::new(),
        };
        product.condition.initial = product.state(Some(start));
        while let Some((state, at)) = product.todo.pop() {
            product.condition.states[state].transitions = product.transitions(state, at);
        }
        product.condition.simplified()
    }
}

/// The functions that calls through pointers may enter.
fn called_through_pointers(program: &Program) -> Vec<FuncId> {
    let calls = CallGraph::new(program);
    let edges = program.edges.iter();
    let through = edges.filter(|(_, e)| matches!(e.op, Op::Call { callee: Callee::Indirect(_), .. }));
    let mut funcs: Vec<FuncId> = through.flat_map(|(id, _)| calls.callees(program, id).as_slice().to_vec()).collect();
    funcs.sort_unstable();
    funcs.dedup();
    funcs
}

/// The states of both reductions: the number of decisions of each bound that have been taken, or `None` for ⊤.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Position {
    lower: reduction::State,
    upper: reduction::State,
}

/// The condition of a range under construction.
struct Product<'a> {
    program: &'a Program,
    range: &'a Range,
    condition: Condition,
    outside: StateId,
    inside: StateId,
    /// The functions that a call through a pointer may enter.
    callees: Vec<FuncId>,
    numbers: FxHashMap<Position, StateId>,
    todo: Vec<(StateId, Position)>,
}

impl Product<'_> {
    /// The state of the condition at a position. `None`, which is ⊥, is outside the range.
    fn state(&mut self, at: Option<Position>) -> StateId {
        let Some(mut at) = at else { return self.outside };
        // After the end of a bound, all extensions lie above it.
        if let (Some(i), Some(bound)) = (at.lower, &self.range.lower)
            && i >= bound.decisions.len()
        {
            at.lower = None;
        }
        if let (Some(i), Some(bound)) = (at.upper, &self.range.upper)
            && i >= bound.decisions.len()
        {
            if !bound.complete {
                return self.outside;
            }
            at.upper = None;
        }
        if at.lower.is_none() && at.upper.is_none() {
            return self.inside;
        }
        *self.numbers.entry(at).or_insert_with(|| {
            let state = self.condition.add(false);
            self.todo.push((state, at));
            state
        })
    }

    /// The next decisions of the bounds that are followed. They are at the same location, since the paths agree so far.
    fn next(&self, at: Position) -> [Option<Decision>; 2] {
        let of = |bound: &Option<Bound>, at: reduction::State| at.and_then(|i| bound.as_ref().map(|b| b.decisions[i]));
        [of(&self.range.lower, at.lower), of(&self.range.upper, at.upper)]
    }

    /// The transitions of the state at a position.
    fn transitions(&mut self, state: StateId, at: Position) -> Vec<Transition> {
        let mut out = match self.next(at).into_iter().flatten().next().expect("a bound is followed") {
            Decision::Branch(taken) => self.branch(at, taken),
            Decision::Callee(_) => self.callees(at),
        };
        out.push(Transition::others(state));
        out
    }

    /// The transitions on both sides of the next branch.
    fn branch(&mut self, at: Position, taken: EdgeId) -> Vec<Transition> {
        let Out::Branch { then_edge, else_edge } = self.program.locs[self.program.edges[taken].source].out else {
            unreachable!("a branch has two edges")
        };
        let [lower, upper] = self.next(at);
        let mut side = |edge: EdgeId| {
            let branch = Branch::from_edge(self.program, edge);
            let follows = |next: Option<Decision>| next == Some(Decision::Branch(edge));
            let lower = reduction::transfer(Side::Lower, at.lower, branch, follows(lower));
            let upper = reduction::transfer(Side::Upper, at.upper, branch, follows(upper));
            let to = self.state(lower.zip(upper).map(|(lower, upper)| Position { lower, upper }));
            Transition::on(edge, to)
        };
        vec![side(then_edge), side(else_edge)]
    }

    /// The transitions on the first edges of the functions that the next call through a pointer may enter. Functions
    /// are ordered by id: a call through a pointer represents a chain of branches, one for each function.
    fn callees(&mut self, at: Position) -> Vec<Transition> {
        let [lower, upper] = self.next(at).map(|next| match next {
            Some(Decision::Callee(f)) => Some(f),
            _ => None,
        });
        let mut out = Vec::new();
        for func in self.callees.clone() {
            let step = |side, at: reduction::State, bound: Option<FuncId>| {
                let branch = match bound.map(|f| func.cmp(&f)) {
                    Some(Ordering::Less) => Branch::True,
                    Some(Ordering::Greater) => Branch::False,
                    _ => Branch::None,
                };
                reduction::transfer(side, at, branch, bound.is_none_or(|f| f == func))
            };
            let inside = step(Side::Lower, at.lower, lower).zip(step(Side::Upper, at.upper, upper));
            let to = inside.map(|(lower, upper)| Position { lower, upper });
            let entry = self.program.funcs[func].entry;
            // The first edge of the function may be a decision itself.
            let behind = to.map(|to| (to, self.next_if_followed(to)));
            match (self.program.locs[entry].out, behind) {
                (Out::Branch { then_edge, .. }, Some((to, Some(Decision::Branch(next)))))
                    if self.program.edges[next].source == self.program.edges[then_edge].source =>
                {
                    out.extend(self.branch(to, next));
                }
                _ => {
                    let to = self.state(to);
                    out.extend(self.program.out_edges(entry).map(|e| Transition::on(e, to)));
                }
            }
        }
        out
    }

    fn next_if_followed(&self, at: Position) -> Option<Decision> {
        let of = |bound: &Option<Bound>, at: reduction::State| {
            at.and_then(|i| bound.as_ref().and_then(|b| b.decisions.get(i).copied()))
        };
        of(&self.range.lower, at.lower).or(of(&self.range.upper, at.upper))
    }
}

/// Records the decisions of a run.
struct Decisions {
    decisions: Vec<Decision>,
}

impl Observer for Decisions {
    fn executed(&mut self, edge: EdgeId, state: &Execution) {
        if self.decisions.len() > MOST_DECISIONS {
            return;
        }
        match state.program().edges[edge].op {
            Op::Assume { .. } => self.decisions.push(Decision::Branch(edge)),
            Op::Call { callee: Callee::Indirect(_), .. } => self.decisions.push(Decision::Callee(state.func())),
            _ => {}
        }
    }
}
