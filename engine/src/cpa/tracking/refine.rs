//! Paths of abstract counterexamples: whether they are feasible, and what has to be tracked so that they are not met again.
//!
//! A path is followed again without abstraction; if it leads nowhere, interpolants along it say what is needed to see that:
//! at every location where states are abstracted, a smallest part of what is known there that still contradicts
//! the rest of the path. For constraint sequences over values these are Algorithms 3 (Interpolate) and 4 (Refine) of
//! Beyer, Löwe: Explicit-state software model checking based on CEGAR and interpolation, FASE 2013; with symbols, values and
//! constraints are interpolated together, as in the thesis on slicing and CEGAR for symbolic execution, section 2.3.
//! Interpolants are inductive: the next is made from the last. What may be dropped is found by halving
//! (Junker: QuickXplain, AAAI 2004) instead of one by one.

use super::precision::{Item, describe};
use super::state::State;
use super::{At, Stop, Tracking};
use crate::budget::{Budget, Spent};
use crate::control::{CallStacks, Control};
use crate::cpa::symbolic::Problem;
use crate::cpa::{Cpa, Goal, PathCheck, Refinement, Target};
use crate::execution::Mode;
use crate::verdict::Reason;
use cfa::interp::Inputs;
use cfa::{EdgeId, LocId, Op, Out, PlaceId};

/// States that one path may split into, by the objects that pointers point into.
const MOST_STATES: usize = 64;

/// What a refinement has learned.
#[derive(Clone, Debug)]
pub struct Increment {
    /// The error or operation whose path was refuted.
    pub goal: Option<PlaceId>,
    /// What is tracked from now on, in terms of the C program.
    pub tracked: Vec<String>,
}

/// The states at the end of a path.
enum End {
    /// With the number of edges after which the last of them ended, if none is left.
    States(Vec<State>),
    Nowhere(usize),
    /// Something kept the path from being followed.
    Problem,
}

impl Tracking<'_> {
    /// Whether `path` leads to `goal`, at full precision.
    pub(super) fn check_path(
        &mut self,
        path: &[EdgeId],
        goal: Goal,
        budget: &Budget,
    ) -> Result<PathCheck<Inputs>, Stop> {
        let mode = Mode { names_unknowns: true, is_abstract: false, ..self.symbolic.execution.mode };
        let result = self.in_mode(mode, |this| this.check_precisely(path, goal, budget));
        self.problems().found.clear();
        result
    }

    fn check_precisely(&mut self, path: &[EdgeId], goal: Goal, budget: &Budget) -> Result<PathCheck<Inputs>, Stop> {
        let states = loop {
            let start = self.initial();
            match self.along(vec![start], path, budget)? {
                End::States(states) => break states,
                End::Nowhere(_) => return Ok(PathCheck::Infeasible),
                // What lies before the problem on the path is looked at first, so this one is new only to the full
                // precision. Abstract states read anything through pointers that are not tracked.
                End::Problem => match self.problems().found.last().map(|p| p.edge) {
                    Some(edge) if self.symbolic.is_read(edge) && !self.problems().is_settled(edge) => {
                        self.problems().settle(edge);
                    }
                    _ => return Ok(PathCheck::Unknown(self.last_problem())),
                },
            }
        };
        match goal {
            Goal::Error { edge, error } => {
                for st in &mut self.at_error(states, edge)? {
                    match self.target(st, edge, error)? {
                        Target::Reached(inputs) => return Ok(PathCheck::Feasible(inputs)),
                        Target::Infeasible => {}
                        Target::Undecided | Target::Later => {
                            return Ok(PathCheck::Unknown(Reason::at(
                                "a path to an error is undecided",
                                self.symbolic.execution.program.edges[edge].place,
                            )));
                        }
                    }
                }
                Ok(PathCheck::Infeasible)
            }
            Goal::Problem { edge } => {
                self.problems().found.clear();
                for mut st in states {
                    if self.is_real(&mut st)? {
                        self.step(st, edge, None)?;
                    }
                }
                Ok(match self.problems().found.iter().any(|p| p.edge == edge) {
                    true => PathCheck::Unknown(self.last_problem()),
                    false => PathCheck::Infeasible,
                })
            }
        }
    }

    fn last_problem(&mut self) -> Reason {
        self.problems().found.pop().map_or_else(|| Reason::new("the path cannot be followed"), |p| p.reason)
    }

    /// Tracks what refutes `path`, which leads to `st` and on which states are abstracted after `cuts` edges: values where
    /// they do, then predicates, then what no predicate can say, as values and constraints.
    pub(super) fn refine_path(
        &mut self,
        st: &State,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Refinement, Stop> {
        let result = self.refine_with(st, path, cuts, goal, budget);
        self.problems().found.clear();
        result
    }

    fn refine_with(
        &mut self,
        st: &State,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Refinement, Stop> {
        let names_unknowns = self.symbolic.execution.mode.names_unknowns;
        let precise = Mode { is_abstract: false, ..self.symbolic.execution.mode };
        let (values, predicates) = self.ways;
        let helps =
            |r: &Result<_, _>| !matches!(r, Ok(Refinement::Impossible | Refinement::Refined { changed: false, .. }));
        let mut result = Ok(Refinement::Impossible);
        if !names_unknowns || values {
            // Values are enough for most paths, and need no solver.
            let explicit = Mode { names_unknowns: false, ..precise };
            result = self.in_mode(explicit, |this| this.interpolate(path, cuts, goal, budget));
        }
        if predicates && !helps(&result) {
            let ends: Vec<LocId> = cuts.iter().map(|&cut| self.loc_after(path, cut)).collect();
            result = self.in_mode(precise, |this| this.refine_predicates(st, &ends, goal, budget));
        }
        if names_unknowns && !helps(&result) {
            result = self.in_mode(precise, |this| this.interpolate(path, cuts, goal, budget));
        }
        result
    }

    fn interpolate(
        &mut self,
        path: &[EdgeId],
        cuts: &[usize],
        goal: Goal,
        budget: &Budget,
    ) -> Result<Refinement, Stop> {
        let start = self.initial();
        let Some(end) = self.contradiction(vec![start.clone()], path, Some(goal), budget)? else {
            return Ok(Refinement::Impossible);
        };
        let goal_place = self.place_of(goal, path);
        // What comes after the first contradiction does not matter.
        let whole = end == path.len();
        let path = &path[..end];
        let goal = whole.then_some(goal);
        let cuts: Vec<(usize, usize)> =
            cuts.iter().copied().enumerate().filter(|&(_, cut)| cut > 0 && (cut < end || whole)).collect();
        let mut from = None;
        let mut learned: Vec<Item> = Vec::new();
        // Each round finds the first cut where what is tracked is not enough, and adds what is missing there.
        while let Some(states) = self.abstract_states(path, &cuts, goal, budget)? {
            let enough = self.first_without(
                &states,
                &cuts,
                |this, states, _, rest| this.contradiction(states.to_vec(), rest, goal, budget).map(|at| at.is_some()),
                path,
            )?;
            let Some(&(i, cut)) = cuts.get(enough) else { break };
            // The strongest postcondition of the interpolant before and the block.
            let (before, done) = match enough.checked_sub(1) {
                None => (vec![start.clone()], 0),
                Some(last) => (states[last].clone(), cuts[last].1),
            };
            let End::States(states) = self.along(before, &path[done..cut], budget)? else { break };
            let at = Control { loc: self.loc_after(path, cut), stack: CallStacks::EMPTY };
            let rest = &path[cut..];
            let mut items: Vec<Item> = Vec::new();
            for st in &states {
                items.extend(self.items(st, at));
            }
            let mut seen = rustc_hash::FxHashSet::default();
            items.retain(|&i| seen.insert(i));
            if !self.suffices(&states, at, &items, rest, goal, budget)? {
                break;
            }
            let (tracked, others): (Vec<Item>, Vec<Item>) =
                items.into_iter().partition(|&item| self.precision.tracks(at.loc, item));
            let before = learned.len();
            for item in self.needed(&states, at, &tracked, &others, rest, goal, budget)? {
                if self.precision.add(at.loc, item) {
                    learned.push(item);
                }
            }
            if learned.len() == before {
                break;
            }
            from = from.or(Some(i));
        }
        let from = match from {
            Some(from) => from,
            // All is tracked that is needed, but was not when the graph was made: it is made anew from where it matters.
            None => match self.abstract_states(path, &cuts, goal, budget)? {
                Some(_) => return Ok(Refinement::Impossible),
                None => match self.first_that_matters(path, &cuts, goal, budget)? {
                    Some(from) => from,
                    None => return Ok(Refinement::Impossible),
                },
            },
        };
        learned.sort_unstable();
        learned.dedup();
        let mut tracked: Vec<String> =
            learned.iter().map(|&item| describe(self.symbolic.execution.program, item)).collect();
        tracked.dedup();
        let changed = !tracked.is_empty();
        if changed {
            self.increments.push(Increment { goal: goal_place, tracked });
        }
        Ok(Refinement::Refined { from, changed })
    }

    /// The smallest part of `items` that, with `background`, contradicts the rest of the path.
    #[allow(clippy::too_many_arguments)]
    fn needed(
        &mut self,
        states: &[State],
        at: Control,
        background: &[Item],
        items: &[Item],
        rest: &[EdgeId],
        goal: Option<Goal>,
        budget: &Budget,
    ) -> Result<Vec<Item>, Stop> {
        if self.suffices(states, at, background, rest, goal, budget)? {
            return Ok(Vec::new());
        }
        if items.len() == 1 {
            return Ok(items.to_vec());
        }
        let (preferred, other) = items.split_at(items.len().div_ceil(2));
        let with: Vec<Item> = background.iter().chain(preferred).copied().collect();
        let mut keep = self.needed(states, at, &with, other, rest, goal, budget)?;
        let with: Vec<Item> = background.iter().chain(&keep).copied().collect();
        keep.extend(self.needed(states, at, &with, preferred, rest, goal, budget)?);
        Ok(keep)
    }

    fn suffices(
        &mut self,
        states: &[State],
        at: Control,
        keep: &[Item],
        rest: &[EdgeId],
        goal: Option<Goal>,
        budget: &Budget,
    ) -> Result<bool, Stop> {
        let states = self.restricted(states, at, keep);
        Ok(self.contradiction(states, rest, goal, budget)?.is_some())
    }

    fn restricted(&mut self, states: &[State], at: Control, keep: &[Item]) -> Vec<State> {
        let wanted = |item: Item| keep.contains(&item);
        let mut all = states.to_vec();
        for st in &mut all {
            self.forget_callers(st, None, &wanted);
            self.forget(st, at, None, &wanted);
        }
        all
    }

    /// The states at the cuts of a path with the present precision; `None` if they do not get to its end.
    fn abstract_states(
        &mut self,
        path: &[EdgeId],
        cuts: &[(usize, usize)],
        goal: Option<Goal>,
        budget: &Budget,
    ) -> Result<Option<Vec<Vec<State>>>, Stop> {
        let mode = Mode { is_abstract: true, ..self.symbolic.execution.mode };
        self.in_mode(mode, |this| {
            let (mut states, mut done) = (vec![this.initial()], 0);
            let mut all = Vec::with_capacity(cuts.len());
            for &(_, cut) in cuts {
                states = match this.along(states, &path[done..cut], budget)? {
                    End::States(states) => states,
                    End::Nowhere(_) => return Ok(None),
                    End::Problem => return Ok(Some(all)),
                };
                done = cut;
                let at = Control { loc: this.loc_after(path, cut), stack: CallStacks::EMPTY };
                states = states.into_iter().map(|st| this.abstracted(st, at, None)).collect();
                all.push(states.clone());
            }
            let refuted = this.contradiction(states, &path[done..], goal, budget)?.is_some();
            Ok((!refuted).then_some(all))
        })
    }

    /// The number of the first cut at which `holds` no more; it holds at all before.
    fn first_without(
        &mut self,
        states: &[Vec<State>],
        cuts: &[(usize, usize)],
        mut holds: impl FnMut(&mut Self, &[State], Control, &[EdgeId]) -> Result<bool, Stop>,
        path: &[EdgeId],
    ) -> Result<usize, Stop> {
        let (mut low, mut high) = (0, states.len());
        while low < high {
            let middle = (low + high) / 2;
            let cut = cuts[middle].1;
            let at = Control { loc: self.loc_after(path, cut), stack: CallStacks::EMPTY };
            match holds(self, &states[middle], at, &path[cut..])? {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(low)
    }

    /// The index of the first cut at which something has to be known so that the rest of the path is refuted.
    fn first_that_matters(
        &mut self,
        path: &[EdgeId],
        cuts: &[(usize, usize)],
        goal: Option<Goal>,
        budget: &Budget,
    ) -> Result<Option<usize>, Stop> {
        let mut states = Vec::with_capacity(cuts.len());
        let (mut now, mut done) = (vec![self.initial()], 0);
        for &(_, cut) in cuts {
            let End::States(next) = self.along(now, &path[done..cut], budget)? else { break };
            states.push(next.clone());
            (now, done) = (next, cut);
        }
        let first = self.first_without(
            &states,
            cuts,
            |this, states, at, rest| {
                let none = this.restricted(states, at, &[]);
                this.contradiction(none, rest, goal, budget).map(|at| at.is_some())
            },
            path,
        )?;
        Ok(cuts.get(first).map(|&(i, _)| i))
    }

    /// Whether no state gets to the goal: the number of edges after which the last ended.
    fn contradiction(
        &mut self,
        states: Vec<State>,
        path: &[EdgeId],
        goal: Option<Goal>,
        budget: &Budget,
    ) -> Result<Option<usize>, Stop> {
        let mut states = match self.along(states, path, budget)? {
            End::States(states) => states,
            End::Nowhere(at) => return Ok(Some(at)),
            End::Problem => return Ok(None),
        };
        match goal {
            None => {
                for st in &mut states {
                    if self.is_real(st)? {
                        return Ok(None);
                    }
                }
            }
            Some(Goal::Error { edge, .. }) => {
                for st in &mut self.at_error(states, edge)? {
                    if self.is_real(st)? {
                        return Ok(None);
                    }
                }
            }
            Some(Goal::Problem { edge }) => {
                self.problems().found.clear();
                for mut st in states {
                    if self.is_real(&mut st)? {
                        self.step(st, edge, None)?;
                    }
                }
                if self.problems().found.iter().any(|p| p.edge == edge) {
                    return Ok(None);
                }
            }
        }
        Ok(Some(path.len()))
    }

    /// The states that violate the property at an edge: those in which its operation is a fault, or all before an error edge.
    fn at_error(&mut self, states: Vec<State>, edge: EdgeId) -> Result<Vec<State>, Stop> {
        if matches!(self.symbolic.execution.program.edges[edge].op, Op::Error(_)) {
            return Ok(states);
        }
        let mut faults = Vec::new();
        for mut st in states {
            if self.is_real(&mut st)? {
                self.faults.clear();
                self.step(st, edge, None)?;
                faults.append(&mut self.faults);
            }
        }
        Ok(faults)
    }

    /// Follows a path.
    fn along(&mut self, mut states: Vec<State>, path: &[EdgeId], budget: &Budget) -> Result<End, Stop> {
        self.problems().found.clear();
        for (i, &edge) in path.iter().enumerate() {
            if (i % 256 == 0 || self.symbolic.execution.solver.was_cut_short())
                && let Some(spent) = budget.spent()
            {
                return Err(Stop::Spent(spent));
            }
            let next = path.get(i + 1).copied();
            let mut after = Vec::with_capacity(states.len());
            for st in states {
                after.extend(self.step(st, edge, next)?);
            }
            if !self.problems().found.is_empty() || after.len() > MOST_STATES {
                return Ok(End::Problem);
            }
            if after.is_empty() {
                return Ok(End::Nowhere(i + 1));
            }
            states = after;
        }
        Ok(End::States(states))
    }

    /// The successors of a state over one edge; `next` tells which function a call enters.
    pub(super) fn step(&mut self, st: State, edge: EdgeId, next: Option<EdgeId>) -> Result<Vec<State>, Stop> {
        let program = self.symbolic.execution.program;
        match program.edges[edge].op {
            Op::Assume { branch, .. } => {
                let Out::Branch { then_edge, else_edge } = program.locs[program.edges[edge].source].out else {
                    unreachable!("an assume edge belongs to a branch")
                };
                let (yes, no) = self.branch(st, then_edge, else_edge)?;
                Ok((if branch { yes } else { no }).into_iter().collect())
            }
            Op::Return { .. } => {
                let call = st.frame.call.expect("a path returns from where it was called");
                Ok(vec![self.leave(st, edge, call)?])
            }
            Op::Error(_) | Op::Halt(_) => Ok(vec![st]),
            _ => {
                let mut after = Vec::new();
                let mut pending = vec![st];
                let mut successors = Vec::new();
                let mut splits = 0;
                while let Some(st) = pending.pop() {
                    self.execute(st, edge, &mut successors);
                    if self.symbolic.execution.solver.was_cut_short() {
                        return Err(Stop::Spent(Spent::Time));
                    }
                    // A length may have any number of values, of which most lead nowhere.
                    splits += 1;
                    if splits > MOST_STATES {
                        let reason = Reason::at("a path splits into too many cases", program.edges[edge].place);
                        self.problems().found.push(Problem { edge, reason });
                        return Ok(Vec::new());
                    }
                    for (st, to) in successors.drain(..) {
                        match to {
                            At::Target => after.push(st),
                            At::Source => pending.push(st),
                            At::Callee(func) => {
                                let entered = next.is_none_or(|e| program.func_of(e) == func);
                                after.extend(entered.then_some(st));
                            }
                        }
                    }
                    if after.len() + pending.len() > MOST_STATES {
                        break;
                    }
                }
                after.append(&mut pending);
                Ok(after)
            }
        }
    }

    /// Where the user sees the goal: an error in a function that nobody defines is at its call.
    fn place_of(&self, goal: Goal, path: &[EdgeId]) -> Option<PlaceId> {
        let last = path.last().filter(|&&e| matches!(self.symbolic.execution.program.edges[e].op, Op::Call { .. }));
        self.symbolic.execution.program.edges[last.copied().unwrap_or(goal.edge())].place
    }

    /// Where the path stands after its first `n` edges.
    fn loc_after(&self, path: &[EdgeId], n: usize) -> LocId {
        let edge = path[n - 1];
        match self.symbolic.execution.program.edges[edge].op {
            Op::Call { .. } | Op::Return { .. } => match path.get(n) {
                Some(&next) => self.symbolic.execution.program.edges[next].source,
                None => self.symbolic.execution.program.edges[edge].target,
            },
            _ => self.symbolic.execution.program.edges[edge].target,
        }
    }
}
