//! Union and intersection of conditions, as automata over pairs of states.

use super::{Condition, Label, State, StateId, Transition, named};
use cfa::{EdgeId, Table};
use rustc_hash::FxHashMap;

/// A state of each condition; `None` if the condition covers nothing from here on.
type Pair = [Option<StateId>; 2];

impl Condition {
    /// The condition that covers the paths that either condition covers. `other` belongs to an analysis of the residual
    /// paths of `self`, and has not visited other paths. So paths of `self` that depend on residual paths still do so
    /// in the result. Transitions with assumptions are omitted, so the result covers fewer paths.
    pub fn union(&self, other: &Self) -> Self {
        let leads_to_rest = self.coreachable(|state| state.with_rest);
        self.product(other, |[own, others]| {
            let is_open = own.is_some_and(|q| leads_to_rest[q.0 as usize]);
            let says = self.says(own).or(other.says(others).filter(|_| !is_open));
            (own.is_some() || others.is_some()).then_some(says)
        })
    }

    /// The condition that covers the paths that both conditions cover. A path depends on residual paths if it does so
    /// in either condition. Transitions with assumptions are omitted, so the result covers fewer paths.
    pub fn intersection(&self, other: &Self) -> Self {
        self.product(other, |[own, others]| {
            let says = self.says(own).zip(other.says(others)).map(|(a, b)| a || b);
            (own.is_some() && others.is_some()).then_some(says)
        })
    }

    /// If the state accepts, whether it depends on residual paths (`with_rest`).
    fn says(&self, q: Option<StateId>) -> Option<bool> {
        q.map(|q| &self.states[q]).filter(|state| state.accepting).map(|state| state.with_rest)
    }

    /// The product automaton. `says` returns, for a pair, `None` if it covers nothing from here on, and otherwise the
    /// acceptance of the pair with its `with_rest`.
    fn product(&self, other: &Self, says: impl Fn(Pair) -> Option<Option<bool>>) -> Self {
        let mut out = Self { states: Table::new(), initial: StateId(0) };
        let mut numbers: FxHashMap<Pair, StateId> = FxHashMap::default();
        let mut todo = vec![[Some(self.initial), Some(other.initial)]];
        let state = |pair| {
            let says = says(pair).flatten();
            State { accepting: says.is_some(), with_rest: says == Some(true), transitions: Vec::new() }
        };
        numbers.insert(todo[0], out.states.push(state(todo[0])));
        while let Some(pair) = todo.pop() {
            let from = numbers[&pair];
            if out.states[from].accepting {
                continue;
            }
            let states = [pair[0].map(|q| &self.states[q]), pair[1].map(|q| &other.states[q])];
            let named = named(states.into_iter().flatten().flat_map(|state| &state.transitions));
            let mut transitions = Vec::new();
            for edge in named.into_iter().map(Some).chain([None]) {
                let to = [self.next(pair[0], edge), other.next(pair[1], edge)];
                let to = if says(to).is_some() { to } else { [None, None] };
                if to == [None, None] && edge.is_none() {
                    continue;
                }
                let to = *numbers.entry(to).or_insert_with(|| {
                    todo.push(to);
                    out.states.push(state(to))
                });
                transitions.push(match edge {
                    Some(edge) => Transition::on(edge, to),
                    None => Transition::others(to),
                });
            }
            out.states[from].transitions = transitions;
        }
        out.simplified()
    }

    /// The state after an edge, or after an unnamed edge for `None`. An accepting state stays.
    fn next(&self, q: Option<StateId>, edge: Option<EdgeId>) -> Option<StateId> {
        let state = &self.states[q?];
        if state.accepting {
            return q;
        }
        let is_certain = |t: &&Transition| t.assumption.is_none();
        let to = match edge {
            Some(edge) => state.successors(edge).find(is_certain),
            None => state.transitions.iter().filter(|t| t.on == Label::Others).find(is_certain),
        };
        to.map(|t| t.to)
    }
}
