//! Sets of condition states that a path may be in, and the functions whose calls may change them.

use crate::condition::{Condition, Label, StateId};
use cfa::{CallGraph, EdgeId, ExprId, FuncId, Id, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;

/// A set of states that a path may be in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SetId(pub u32);

/// The set without states: nothing is covered from here on.
pub const FREE: SetId = SetId(0);
/// A set with an accepting state.
pub const COVERED: SetId = SetId(1);

/// The interned sets of states.
pub struct Sets<'a> {
    /// The condition.
    pub condition: &'a Condition,
    /// The sets by id.
    pub sets: Vec<Vec<StateId>>,
    ids: FxHashMap<Vec<StateId>, SetId>,
}

impl<'a> Sets<'a> {
    /// The sets [`FREE`] and [`COVERED`] alone.
    pub fn new(condition: &'a Condition) -> Self {
        let mut ids = FxHashMap::default();
        ids.insert(Vec::new(), FREE);
        Self { condition, sets: vec![Vec::new(), Vec::new()], ids }
    }

    /// The id of a set.
    pub fn intern(&mut self, mut states: Vec<StateId>) -> SetId {
        states.sort_unstable();
        states.dedup();
        if states.iter().any(|&q| self.condition.states[q].accepting) {
            return COVERED;
        }
        states.retain(|&q| !self.condition.states[q].transitions.is_empty());
        match self.ids.entry(states) {
            Entry::Occupied(id) => *id.get(),
            Entry::Vacant(entry) => {
                let id = SetId(self.sets.len() as u32);
                self.sets.push(entry.key().clone());
                *entry.insert(id)
            }
        }
    }

    /// The states after an edge, and the states after it that depend on an assumption.
    pub fn step(&self, from: SetId, edge: EdgeId) -> (Vec<StateId>, Vec<(ExprId, StateId)>) {
        let (mut always, mut assuming) = (Vec::new(), Vec::new());
        for &q in &self.sets[from.0 as usize] {
            for t in self.condition.states[q].successors(edge) {
                match t.assumption {
                    None => always.push(t.to),
                    Some(e) => assuming.push((e, t.to)),
                }
            }
        }
        (always, assuming)
    }
}

/// Determines which states of a condition may change during a call.
pub struct Interest {
    /// By function, the functions that a call of it may enter, directly or indirectly.
    closures: Vec<Option<FxHashSet<FuncId>>>,
    callees: Vec<Vec<FuncId>>,
    /// By state, the functions whose edges it names; `None` if another edge may also change it.
    named: Vec<Option<FxHashSet<FuncId>>>,
}

impl Interest {
    /// Prepares the queries for a program and a condition.
    pub fn new(program: &Program, condition: &Condition, calls: &CallGraph) -> Self {
        let callees = program
            .funcs
            .ids()
            .map(|f| {
                let direct = calls.calls_in(f).iter();
                direct.flat_map(|&e| calls.callees(program, e).as_slice().to_vec()).collect()
            })
            .collect();
        let named = condition.states.iter().map(|(id, state)| {
            let stays = |t: &&crate::condition::Transition| t.on == Label::Others;
            let mut others = state.transitions.iter().filter(stays);
            let stays = others.next().is_some_and(|t| t.to == id && t.assumption.is_none()) && others.next().is_none();
            stays.then(|| {
                let edges = state.transitions.iter().filter_map(|t| match &t.on {
                    Label::Edges(edges) => Some(edges.iter()),
                    Label::Others => None,
                });
                edges.flatten().map(|&e| program.func_of(e)).collect()
            })
        });
        Self { closures: vec![None; program.funcs.len()], callees, named: named.collect() }
    }

    fn closure(&mut self, func: FuncId) -> &FxHashSet<FuncId> {
        let callees = &self.callees;
        self.closures[func.index()].get_or_insert_with(|| {
            let mut seen = FxHashSet::default();
            let mut work = vec![func];
            while let Some(f) = work.pop() {
                if seen.insert(f) {
                    work.extend_from_slice(&callees[f.index()]);
                }
            }
            seen
        })
    }

    /// Returns true if these states stay the same during a call of `func`.
    pub fn is_blind(&mut self, states: &[StateId], func: FuncId) -> bool {
        if states.is_empty() {
            return true;
        }
        self.closure(func);
        let closure = self.closures[func.index()].as_ref().expect("made before");
        states.iter().all(|q| match &self.named[q.index()] {
            None => false,
            Some(named) if named.len() < closure.len() => named.iter().all(|f| !closure.contains(f)),
            Some(named) => closure.iter().all(|f| !named.contains(f)),
        })
    }
}
