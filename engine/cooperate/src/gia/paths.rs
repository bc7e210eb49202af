//! Single paths in GIAs: adding and finding them.

use super::{Gia, Says};
use crate::condition::{Label, StateId, Transition};
use cfa::{CallGraph, Callee, EdgeId, ExprId, Op, Out, Program};
use rustc_hash::{FxHashMap, FxHashSet};

/// The maximal number of edges of a path.
const MOST_EDGES: usize = 10_000_000;

/// A path from the entry of the program, with conditions on its states.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Annotated {
    /// The edges.
    pub path: Vec<EdgeId>,
    /// The conditions, each with the position of the edge after which it holds.
    pub conditions: Vec<(usize, ExprId)>,
}

impl Gia {
    /// The automaton with this claim about one path, and no claims about others.
    pub fn of_path(path: &Annotated, says: Says, program: &Program) -> Self {
        let mut gia = Self::nothing();
        gia.add_path(path, says, program);
        gia
    }

    /// The automaton that ut-covers every path.
    pub fn all_unreachable() -> Self {
        let mut gia = Self::nothing();
        gia.states[gia.initial].says = Some(Says::Unreachable);
        gia
    }

    /// The automaton that ut-covers the paths with one of these edges.
    pub fn never(edges: Vec<EdgeId>) -> Self {
        let mut gia = Self::nothing();
        let (initial, ut) = (gia.initial, gia.add(Some(Says::Unreachable), None));
        gia.states[initial].transitions =
            vec![Transition { on: Label::from_edges(edges), assumption: None, to: ut }, Transition::others(initial)];
        gia
    }

    /// Returns true if the automaton ut-covers every path in its initial state.
    pub fn is_all_unreachable(&self) -> bool {
        self.states[self.initial].says == Some(Says::Unreachable)
    }

    /// Adds a path with its branches, its conditions, and its claim. The path shares prefixes that the automaton has.
    pub fn add_path(&mut self, annotated: &Annotated, says: Says, program: &Program) {
        let path = &annotated.path;
        let calls = CallGraph::new(program);
        let conditions: FxHashMap<usize, ExprId> = annotated.conditions.iter().rev().copied().collect();
        let mut at = self.initial;
        for (i, &edge) in path.iter().enumerate() {
            if self.states[at].says.is_some() {
                return;
            }
            let last = i + 1 == path.len();
            let assumption = conditions.get(&i).copied();
            let siblings = siblings(program, &calls, path, i);
            // Edges without alternatives need no names.
            if !last && siblings.is_empty() && assumption.is_none() {
                continue;
            }
            if self.states[at].transitions.iter().all(|t| t.on != Label::Others) {
                self.states[at].transitions.push(Transition::others(at));
            }
            for sibling in siblings {
                if self.states[at].transitions.iter().all(|t| t.on != Label::from_edges([sibling])) {
                    let lost = self.add(None, None);
                    self.states[at].transitions.push(Transition::on(sibling, lost));
                }
            }
            at = self.go_on(at, edge, assumption, last.then_some(says));
        }
    }

    /// The state after an edge of the path that is being added.
    pub(super) fn go_on(
        &mut self,
        at: StateId,
        edge: EdgeId,
        assumption: Option<ExprId>,
        says: Option<Says>,
    ) -> StateId {
        let is_this = |t: &&Transition| t.assumption == assumption && t.on == Label::from_edges([edge]);
        // If another path has reached its target here, this path continues in a state of its own.
        let is_over = |to: &StateId| says.is_none() && self.states[*to].says == Some(Says::Reachable);
        let known = self.states[at].transitions.iter().filter(is_this).map(|t| t.to).find(|to| !is_over(to));
        match known {
            // A state at which another path turned off.
            Some(to) if self.states[to].says.is_none() && self.states[to].transitions.is_empty() => {
                self.states[to].says = says;
                if says == Some(Says::Candidate) {
                    self.states[to].transitions = vec![Transition::others(to)];
                }
                to
            }
            Some(to) if says.is_none() || self.states[to].says.is_some() => to,
            _ => {
                let to = self.add(says, None);
                self.states[at].transitions.push(Transition { on: Label::from_edges([edge]), assumption, to });
                to
            }
        }
    }

    /// The path of the program to a state with this claim, if the automaton permits only one. Ignores conditions.
    pub fn only_path(&self, says: Says, program: &Program) -> Option<Vec<EdgeId>> {
        let useful = self.useful(|s| s == Some(says));
        let calls = CallGraph::new(program);
        let after = |states: &[StateId], edge: EdgeId| {
            let mut next = self.step(states, edge, &mut |_| true);
            next.retain(|q| useful[q.0 as usize]);
            next
        };
        let mut states = vec![self.initial];
        let (mut path, mut stack) = (Vec::new(), Vec::new());
        let mut loc = program.funcs[program.entry].entry;
        while path.len() < MOST_EDGES {
            let mut ways: Vec<(EdgeId, Vec<StateId>)> = Vec::new();
            for edge in program.out_edges(loc) {
                let next = after(&states, edge);
                if !next.is_empty() {
                    ways.push((edge, next));
                }
            }
            let [(edge, next)] = <[_; 1]>::try_from(ways).ok()?;
            path.push(edge);
            if next.iter().any(|&q| self.states[q].says == Some(says)) {
                return Some(path);
            }
            states = next;
            loc = match &program.edges[edge].op {
                Op::Call { callee: Callee::Direct(func), .. } => {
                    stack.push(edge);
                    program.funcs[*func].entry
                }
                Op::Call { callee: Callee::Indirect(_), .. } => {
                    stack.push(edge);
                    let callees = calls.callees(program, edge);
                    let goes_on = |loc| program.out_edges(loc).any(|edge| !after(&states, edge).is_empty());
                    let mut entries =
                        callees.as_slice().iter().map(|&f| program.funcs[f].entry).filter(|&loc| goes_on(loc));
                    match (entries.next(), entries.next()) {
                        (Some(entry), None) => entry,
                        _ => return None,
                    }
                }
                Op::Return { .. } => program.edges[stack.pop()?].target,
                _ => program.edges[edge].target,
            };
        }
        None
    }

    /// Returns true if the automaton has this claim about the whole path, and about no proper prefix, whose claim might
    /// depend on a condition. Ignores conditions.
    pub fn tells(&self, path: &[EdgeId], says: Says) -> bool {
        let is_said = |states: &[StateId]| states.iter().any(|&q| self.states[q].says == Some(says));
        let Some((&last, before)) = path.split_last() else { return false };
        let mut states = vec![self.initial];
        for &edge in before {
            states = self.step(&states, edge, &mut |_| true);
            if states.is_empty() || is_said(&states) {
                return false;
            }
        }
        is_said(&self.step(&states, last, &mut |_| true))
    }

    /// All conditions and invariants, without duplicates.
    pub fn conditions(&self) -> Vec<ExprId> {
        let mut seen = FxHashSet::default();
        let on_edges = self.states.values().flat_map(|s| s.transitions.iter().filter_map(|t| t.assumption));
        let all = self.states.values().filter_map(|s| s.invariant).chain(on_edges);
        all.filter(|&e| seen.insert(e)).collect()
    }

    /// The conditions after the edges `into`, which lead to one location. One of them holds after each of these edges.
    /// `None` if the automaton has no condition for some path that it covers. Considers all paths, with calls and
    /// returns matched or not.
    pub fn holds_after(&self, into: &[EdgeId], program: &Program) -> Option<Vec<ExprId>> {
        let useful = self.useful(|says| says.is_some());
        let calls = CallGraph::new(program);
        let mut seen = FxHashSet::default();
        let mut work = vec![(program.funcs[program.entry].entry, self.initial)];
        let mut found = Vec::new();
        while let Some((loc, state)) = work.pop() {
            if !seen.insert((loc, state)) || self.states[state].says.is_some() {
                continue;
            }
            for edge in program.out_edges(loc) {
                for t in self.states[state].successors(edge).filter(|t| useful[t.to.0 as usize]) {
                    if into.contains(&edge) {
                        let said = [t.assumption, self.states[t.to].invariant];
                        let said: Vec<ExprId> = said.into_iter().flatten().collect();
                        if said.is_empty() {
                            return None;
                        }
                        found.extend(said.into_iter().filter(|e| !found.contains(e)).collect::<Vec<_>>());
                    }
                    let mut to: Vec<cfa::LocId> = Vec::new();
                    match &program.edges[edge].op {
                        Op::Call { .. } => {
                            let callees = calls.callees(program, edge);
                            to.extend(callees.as_slice().iter().map(|&f| program.funcs[f].entry));
                        }
                        Op::Return { .. } => {
                            to.extend(calls.callers(program.func_of(edge)).map(|call| program.edges[call].target));
                        }
                        _ => to.push(program.edges[edge].target),
                    }
                    work.extend(to.into_iter().map(|loc| (loc, t.to)));
                }
            }
        }
        Some(found)
    }
}

/// The alternatives to an edge of a path: the other side of a branch, or the other functions that a pointer may call.
fn siblings(program: &Program, calls: &CallGraph, path: &[EdgeId], i: usize) -> Vec<EdgeId> {
    let edge = path[i];
    let mut siblings: Vec<EdgeId> = match program.locs[program.edges[edge].source].out {
        Out::Branch { .. } => program.out_edges(program.edges[edge].source).filter(|&e| e != edge).collect(),
        _ => Vec::new(),
    };
    if let Some(&call) = i.checked_sub(1).map(|before| &path[before])
        && let Op::Call { callee: Callee::Indirect(_), .. } = program.edges[call].op
    {
        let here = program.func_of(edge);
        let callees = calls.callees(program, call);
        let others = callees.as_slice().iter().filter(|&&f| f != here);
        siblings.extend(others.flat_map(|&f| program.out_edges(program.funcs[f].entry)));
    }
    siblings
}
