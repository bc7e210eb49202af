//! X-reducers (Algorithms 1 and 3): residual programs of GIAs.

use super::{Gia, Says};
use crate::condition::{Condition, Label, StateId, Transition, named};
use crate::reduce::{Reducer, reduce as reduce_by};
use crate::restrict::{Restricted, TooLarge};
use cfa::{EdgeId, Program, Table};
use rustc_hash::FxHashMap;

/// The paths that the reducer removes (`X` of Definition 6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Removed {
    /// Paths that are known to reach no target.
    Unreachable,
    /// Paths that are known to reach a target.
    Reachable,
}

/// The residual program `red_X(C, A)`. Without candidates, it has all paths that are not X-covered. Otherwise, it has
/// all candidates that are not X-covered. It may have further paths of the program, but no others. Fails if it is too
/// large.
pub fn reduce(program: &mut Program, gia: &Gia, what: Removed, reducer: Reducer) -> Result<Restricted, TooLarge> {
    let says = match what {
        Removed::Unreachable => Says::Unreachable,
        Removed::Reachable => Says::Reachable,
    };
    let covered = gia.condition(program, says);
    let rest = reduce_by(program, &covered, reducer)?;
    if !gia.has(Says::Candidate) {
        return Ok(rest);
    }
    // Lines 3 to 13: remove the paths from which no candidate is reachable any more.
    let elsewhere = lifted(&gia.beside(Says::Candidate), &rest);
    let fewer = reduce_by(&rest.program, &elsewhere, reducer)?;
    Ok(composed(&rest, fewer))
}

impl Gia {
    /// The condition that covers the paths with this claim. The invariant of a state becomes an assumption of the
    /// transitions into the state.
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

    /// The condition that covers the paths to which the claim cannot apply any more, whatever the data. Its states are
    /// sets of states; it accepts when none of them leads to a state with the claim.
    pub fn beside(&self, what: Says) -> Condition {
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
                // From here on, all sets stay the same.
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
            let named = named(set.iter().flat_map(|&q| &self.states[q].transitions));
            let mut transitions = Vec::new();
            for edge in named {
                let next = set.iter().flat_map(|&q| self.states[q].successors(edge)).map(|t| t.to).collect();
                transitions.push(Transition::on(edge, number(&mut out, &mut todo, next)));
            }
            let all = set.iter().flat_map(|&q| &self.states[q].transitions);
            let others = all.filter(|t| t.on == Label::Others).map(|t| t.to).collect();
            transitions.push(Transition::others(number(&mut out, &mut todo, others)));
            out.states[id].transitions = transitions;
        }
        out
    }
}

/// Translates a condition on a program to its residual program. Edges that only the residual program has are ignored.
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
                t.on = Label::from_edges(old.iter().flat_map(|e| edges.get(e)).flatten().copied());
            }
        }
        if !state.transitions.is_empty() && !extra.is_empty() {
            state.transitions.push(Transition {
                on: Label::from_edges(extra.iter().copied()),
                assumption: None,
                to: id,
            });
        }
    }
    out
}

/// The second residual program, with its map composed with that of the first.
fn composed(first: &Restricted, second: Restricted) -> Restricted {
    Restricted {
        locs: second.locs.values().map(|l| l.and_then(|l| first.locs[l])).collect(),
        edges: second.edges.values().map(|e| e.and_then(|e| first.edges[e])).collect(),
        funcs: second.funcs.values().map(|&f| first.funcs[f]).collect(),
        vars: second.vars.values().map(|v| v.and_then(|v| first.vars[v])).collect(),
        program: second.program,
    }
}
