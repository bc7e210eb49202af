//! Minimises conditions. A residual program has a copy of a function for each state in which the function is called, so
//! fewer states mean fewer copies.

use super::{Condition, Label, StateId, Transition};
use cfa::{EdgeId, ExprId, Table};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The maximal number of refinement rounds. Automata that distinguish many paths cannot become much smaller.
const ROUNDS: usize = 16;

/// The continuations after an edge: pairs of an assumption and a class.
type Ways = Vec<(Option<ExprId>, u32)>;

impl Condition {
    /// Merges bisimilar states, by partition refinement. If this takes too many rounds, returns the condition
    /// unchanged.
    pub fn quotient(&self) -> Self {
        let useful = self.coreachable(|state| state.accepting);
        let mut classes = 0;
        let mut class: Vec<u32> = vec![0; self.states.len()];
        for _ in 0..ROUNDS {
            let mut ids = FxHashMap::default();
            let next = self.states.iter().map(|(id, state)| {
                let key = (state.accepting, state.with_rest, class[id.0 as usize], self.ways(id, &class, &useful));
                let new = ids.len() as u32;
                *ids.entry(key).or_insert(new)
            });
            class = next.collect();
            if ids.len() == classes {
                return self.joined(&class, &useful);
            }
            classes = ids.len();
        }
        self.clone()
    }

    /// The continuations of a state by edge, and for all other edges (`None`). Edges that behave like the others, or
    /// that lead to no accepting state, are omitted.
    fn ways(&self, id: StateId, class: &[u32], useful: &[bool]) -> BTreeMap<Option<EdgeId>, Ways> {
        let state = &self.states[id];
        let mut out: BTreeMap<Option<EdgeId>, Ways> = BTreeMap::from([(None, Ways::new())]);
        // An accepted path stays accepted.
        if state.accepting {
            return out;
        }
        for t in &state.transitions {
            let way = (t.assumption, class[t.to.0 as usize]);
            let mut add = |edge: Option<EdgeId>| {
                let ways = out.entry(edge).or_default();
                if useful[t.to.0 as usize] {
                    ways.push(way);
                }
            };
            match &t.on {
                Label::Edges(edges) => edges.iter().for_each(|&edge| add(Some(edge))),
                Label::Others => add(None),
            }
        }
        for ways in out.values_mut() {
            ways.sort_unstable();
            ways.dedup();
            let always: Vec<u32> = ways.iter().filter(|(e, _)| e.is_none()).map(|&(_, to)| to).collect();
            ways.retain(|(e, to)| e.is_none() || !always.contains(to));
        }
        let others = out[&None].clone();
        out.retain(|edge, ways| edge.is_none() || *ways != others);
        out
    }

    fn joined(&self, class: &[u32], useful: &[bool]) -> Self {
        let mut out = Self { states: Table::new(), initial: StateId(class[self.initial.0 as usize]) };
        // Classes are numbered in the order of their first members.
        let mut first = Vec::new();
        for (id, state) in self.states.iter() {
            if class[id.0 as usize] as usize == first.len() {
                first.push(id);
                out.add_like(state);
            }
        }
        let lost = out.add(false);
        for (number, &id) in first.iter().enumerate() {
            let mut by_ways: BTreeMap<Ways, Vec<EdgeId>> = BTreeMap::new();
            let mut transitions = Vec::new();
            for (edge, ways) in self.ways(id, class, useful) {
                match edge {
                    Some(edge) => by_ways.entry(ways).or_default().push(edge),
                    None => transitions.extend(
                        ways.into_iter()
                            .map(|(assumption, to)| Transition { assumption, ..Transition::others(StateId(to)) }),
                    ),
                }
            }
            for (ways, edges) in by_ways {
                let on = Label::from_edges(edges);
                if ways.is_empty() {
                    transitions.push(Transition { on: on.clone(), assumption: None, to: lost });
                }
                let taken =
                    ways.into_iter().map(|(assumption, to)| Transition { on: on.clone(), assumption, to: StateId(to) });
                transitions.extend(taken);
            }
            out.states[StateId(number as u32)].transitions = transitions;
        }
        out.simplified()
    }
}
