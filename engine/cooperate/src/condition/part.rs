//! Converts conditions to automata that restrict an exploration.

use super::{Condition, Label, StateId, successors};
use cfa::{EdgeId, Id};
use engine::part::{self, PathAutomaton, Position};
use rustc_hash::FxHashMap;

impl Condition {
    /// The automaton of the paths that are not covered. For a slice, `slice` maps each edge of the program to its edges
    /// in the slice. Returns `None` if the condition uses assumptions or is nondeterministic, or if a transition to
    /// another state reads an edge that the slice may lack.
    pub fn part(&self, slice: Option<&FxHashMap<EdgeId, Vec<EdgeId>>>) -> Option<PathAutomaton> {
        let place = |to: StateId| match &self.states[to] {
            state if state.transitions.is_empty() => {
                if state.accepting {
                    Position::Done
                } else {
                    Position::Open
                }
            }
            state if state.accepting => Position::Seen(to.index() as u32, 0),
            _ => Position::State(to.index() as u32),
        };
        let mut states = Vec::with_capacity(self.states.len());
        for (id, state) in self.states.iter() {
            let mut named: FxHashMap<EdgeId, Position> = FxHashMap::default();
            let mut others = if state.accepting { Position::Done } else { Position::Open };
            for t in &state.transitions {
                if t.assumption.is_some() {
                    return None;
                }
                let Label::Edges(on) = &t.on else {
                    if t.to != id && slice.is_some() {
                        return None;
                    }
                    others = place(t.to);
                    continue;
                };
                for &edge in on {
                    if successors(&state.transitions, edge).count() != 1 {
                        return None;
                    }
                    match slice.map(|edges| edges.get(&edge)) {
                        None => drop(named.insert(edge, place(t.to))),
                        Some(Some(new)) => named.extend(new.iter().map(|&edge| (edge, place(t.to)))),
                        Some(None) if t.to != id && others_stay(self, id) => return None,
                        Some(None) => {}
                    }
                }
            }
            states.push(part::State { named, others, own: place(id) });
        }
        Some(PathAutomaton { initial: place(self.initial), states })
    }
}

/// Returns true if the state has a transition for all edges that no other transition names.
fn others_stay(condition: &Condition, id: StateId) -> bool {
    condition.states[id].transitions.iter().any(|t| t.on == Label::Others)
}
