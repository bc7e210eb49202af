//! Which paths of a program are looked at, where that is not all of them: an automaton beside the exploration, as in conditional
//! model checking (Beyer, Henzinger, Keremoglu, Wendler, FSE 2012), and not woven into the program. So what is left of a run is
//! explored on the program itself, where a path that has left the automaton is like any other and covers the others.
//!
//! Whoever makes one says of the paths left out that they are verified, if those that are looked at are.

use cfa::EdgeId;
use rustc_hash::FxHashMap;

/// Where a path is in the automaton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    State(u32),
    /// All that follows is looked at.
    Open,
    /// Nothing that follows is.
    Done,
}

/// A deterministic automaton over the edges of the program that is explored.
#[derive(Clone, Debug)]
pub struct Part {
    pub initial: Place,
    /// By state: where its edges lead, and all others.
    pub states: Vec<(FxHashMap<EdgeId, Place>, Place)>,
}

impl Part {
    /// Behind an edge.
    pub fn step(&self, at: Place, edge: EdgeId) -> Place {
        let Place::State(state) = at else { return at };
        let (named, others) = &self.states[state as usize];
        named.get(&edge).copied().unwrap_or(*others)
    }
}
