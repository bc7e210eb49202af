//! X-reducers (Algorithms 1 and 3): what of a program is left to look at.

use super::{Gia, Says};
use crate::condition::{Condition, Label, StateId, Transition};
use crate::reduce::{Reducer, reduce as reduce_by};
use crate::restrict::{Restricted, TooLarge};
use cfa::{EdgeId, ExprId, Program, Table};
use rustc_hash::FxHashMap;

/// Conditions behind one edge that are told apart.
const MOST_CONDITIONS: usize = 4;

/// What the reducer takes away (`X` of Definition 6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Left {
    /// Paths that are known to reach no target.
    Unreachable,
    /// Paths that are known to reach one.
    Reachable,
}

/// `red_X(C, A)`: without candidates all paths that are not X-covered, else all candidates that are not. Paths beyond these may be
/// there, but none that the program does not have.
pub fn reduce(program: &mut Program, gia: &Gia, what: Left, reducer: Reducer) -> Result<Restricted, TooLarge> {
    let says = match what {
        Left::Unreachable => Says::Unreachable,
        Left::Reachable => Says::Reachable,
    };
    let covered = gia.condition(program, says);
    let rest = reduce_by(program, &covered, reducer)?;
    if !gia.has(Says::Candidate) {
        return Ok(rest);
    }
    // Lines 3 to 13: no path from which no candidate can be come to any more.
    let elsewhere = lifted(&gia.beside(Says::Candidate, &[]), &rest);
    let fewer = reduce_by(&rest.program, &elsewhere, reducer)?;
    Ok(composed(&rest, fewer))
}

impl Gia {
    /// The condition that covers what such states accept: an invariant is an assumption on the way to its state.
    pub fn condition(&self, program: &mut Program, says: Says) -> Condition {
        let mut states: Table<StateId, crate::condition::State> = Table::new();
        for state in self.states.values() {
            let accepting = state.says == Some(says);
            let mut transitions = Vec::new();
            if !accepting {
                for t in &state.transitions {
                    let assumption = match (t.assumption, self.states[t.to].invariant) {
                        (Some(a), Some(b)) => Some(program.exprs.and(a, b)),
                        (a, b) => a.or(b),
                    };
                    transitions.push(Transition { assumption, ..t.clone() });
                }
            }
            states.push(crate::condition::State { accepting, with_rest: false, transitions });
        }
        Condition { states, initial: self.initial }.simplified().quotient()
    }

    /// The condition that covers the paths of which such a thing can no longer be said, whatever the data: a set of states is
    /// followed, and where none of it leads to such a state, the path is none. Nor is it one if it ends with one of `ends` before
    /// that is said.
    pub fn beside(&self, what: Says, ends: &[EdgeId]) -> Condition {
        self.beside_with(what, ends, None)
    }

    /// The same with the data: which conditions and invariants hold behind an edge decides which states are followed.
    pub fn beside_exactly(&self, what: Says, ends: &[EdgeId], program: &mut Program) -> Condition {
        self.beside_with(what, ends, Some(program))
    }

    fn beside_with(&self, what: Says, ends: &[EdgeId], mut program: Option<&mut Program>) -> Condition {
        let useful = self.useful(|says| says == Some(what));
        let mut out = Condition { states: Table::new(), initial: StateId(0) };
        let mut ids: FxHashMap<Vec<StateId>, StateId> = FxHashMap::default();
        let mut todo: Vec<Vec<StateId>> = Vec::new();
        let is_said = |q: &StateId| self.states[*q].says == Some(what);
        let mut number = |out: &mut Condition, todo: &mut Vec<Vec<StateId>>, mut set: Vec<StateId>| {
            set.retain(|q| useful[q.0 as usize]);
            set.sort_unstable();
            set.dedup();
            *ids.entry(set.clone()).or_insert_with(|| {
                let id = out.add(set.is_empty());
                // From there on everything stays.
                if !set.is_empty() && !set.iter().any(is_said) {
                    todo.push(set);
                } else {
                    todo.push(Vec::new());
                }
                id
            })
        };
        let mut done = 0;
        out.initial = number(&mut out, &mut todo, vec![self.initial]);
        while let Some(set) = todo.get(done).cloned() {
            let id = StateId(done as u32);
            done += 1;
            if set.is_empty() {
                continue;
            }
            let mut named: Vec<EdgeId> = Vec::new();
            for t in set.iter().flat_map(|&q| &self.states[q].transitions) {
                if let Label::Edges(edges) = &t.on {
                    named.extend(edges.iter());
                }
            }
            named.extend(ends);
            named.sort_unstable();
            named.dedup();
            let mut transitions = Vec::new();
            for edge in named.into_iter().map(Some).chain([None]) {
                let taken: Vec<&Transition> = match edge {
                    Some(edge) => set.iter().flat_map(|&q| self.states[q].successors(edge)).collect(),
                    None => {
                        let all = set.iter().flat_map(|&q| &self.states[q].transitions);
                        all.filter(|t| t.on == Label::Others).collect()
                    }
                };
                let is_end = edge.is_some_and(|edge| ends.contains(&edge));
                for (assumption, mut next) in self.by_data(&taken, program.as_deref_mut()) {
                    if is_end && !next.iter().any(is_said) {
                        next.clear();
                    }
                    let on = edge.map_or(Label::Others, |edge| Label::of([edge]));
                    transitions.push(Transition { on, assumption, to: number(&mut out, &mut todo, next) });
                }
            }
            out.states[id].transitions = transitions;
        }
        out
    }

    /// The states behind transitions, by what holds there: each of a few conditions does or does not. Without a program, or where there are more, as if all
    /// of them did.
    fn by_data(&self, taken: &[&Transition], program: Option<&mut Program>) -> Vec<(Option<ExprId>, Vec<StateId>)> {
        let all = || vec![(None, taken.iter().map(|t| t.to).collect())];
        let Some(program) = program else { return all() };
        let mut under = Vec::new();
        for t in taken {
            under.push(match (t.assumption, self.states[t.to].invariant) {
                (Some(a), Some(b)) => Some(program.exprs.and(a, b)),
                (a, b) => a.or(b),
            });
        }
        let mut conditions: Vec<ExprId> = under.iter().copied().flatten().collect();
        conditions.sort_unstable();
        conditions.dedup();
        if conditions.is_empty() || conditions.len() > MOST_CONDITIONS {
            return all();
        }
        let ways = (0..1u32 << conditions.len()).map(|holds| {
            let is_so = |e: &ExprId| conditions.binary_search(e).is_ok_and(|i| holds >> i & 1 == 1);
            let mut assumption = None;
            for &e in &conditions {
                let e = if is_so(&e) { e } else { program.exprs.not(e) };
                assumption = Some(assumption.map_or(e, |all| program.exprs.and(all, e)));
            }
            let to = taken.iter().zip(&under).filter(|(_, e)| e.as_ref().is_none_or(is_so)).map(|(t, _)| t.to);
            (assumption, to.collect())
        });
        ways.collect()
    }
}

/// A condition on a program as one on a residual program of it: edges that only the residual program has do not matter.
fn lifted(condition: &Condition, residual: &Restricted) -> Condition {
    let mut edges: FxHashMap<EdgeId, Vec<EdgeId>> = FxHashMap::default();
    let mut extra: Vec<EdgeId> = Vec::new();
    for (new, old) in residual.edges.iter() {
        match old {
            Some(old) => edges.entry(*old).or_default().push(new),
            None => extra.push(new),
        }
    }
    let mut out = condition.clone();
    for (id, state) in out.states.iter_mut() {
        if state.accepting {
            continue;
        }
        for t in &mut state.transitions {
            if let Label::Edges(old) = &t.on {
                t.on = Label::of(old.iter().flat_map(|e| edges.get(e)).flatten().copied());
            }
        }
        if !state.transitions.is_empty() && !extra.is_empty() {
            state.transitions.push(Transition { on: Label::of(extra.iter().copied()), assumption: None, to: id });
        }
    }
    out
}

/// The second residual program, with the way back to the program of the first.
fn composed(first: &Restricted, second: Restricted) -> Restricted {
    Restricted {
        locs: second.locs.values().map(|l| l.and_then(|l| first.locs[l])).collect(),
        edges: second.edges.values().map(|e| e.and_then(|e| first.edges[e])).collect(),
        funcs: second.funcs.values().map(|&f| first.funcs[f]).collect(),
        vars: second.vars.values().map(|v| v.and_then(|v| first.vars[v])).collect(),
        program: second.program,
    }
}
