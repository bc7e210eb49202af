//! Condition automata: the paths of a program that remain to be verified, as in conditional model checking (Beyer,
//! Henzinger, Keremoglu, Wendler, FSE 2012).
//!
//! The automaton runs beside the exploration and is not instrumented into the program. So the residual of a run is
//! explored on the original program. A path that has left the automaton is like any other path, and its states cover
//! others.
//!
//! The creator of an automaton guarantees that the excluded paths are verified, provided that the selected ones are.

use crate::simplify::{BranchMap, SideTarget};
use cfa::EdgeId;
use rustc_hash::{FxHashMap, FxHashSet};

/// The position of a path in the automaton.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Position {
    /// The state of this number.
    State(u32),
    /// All continuations of the path are selected.
    Open,
    /// No continuation of the path is selected.
    Done,
    /// No continuation of the path is selected, but an earlier run reached states on it that covered others. The
    /// exploration replays the path to these states, so that they cover others again. Holds the number of the
    /// automaton's state, and the number of loop heads passed in it.
    Seen(u32, u8),
}

/// A deterministic automaton over the edges of the explored program.
#[derive(Clone, Debug)]
pub struct PathAutomaton {
    /// The initial position.
    pub initial: Position,
    /// The states, by number.
    pub states: Vec<State>,
}

/// A state of a [`PathAutomaton`].
#[derive(Clone, Debug)]
pub struct State {
    /// The targets of the edges that the state names.
    pub named: FxHashMap<EdgeId, Position>,
    /// The target of all other edges. If it equals `own`, the position does not change.
    pub others: Position,
    /// The position of paths in this state.
    pub own: Position,
}

impl PathAutomaton {
    /// The position after an edge.
    pub fn step(&self, at: Position, edge: EdgeId) -> Position {
        let (Position::State(state) | Position::Seen(state, _)) = at else { return at };
        let State { named, others, own } = &self.states[state as usize];
        named.get(&edge).copied().unwrap_or(if others == own { at } else { *others })
    }

    /// The position after an edge of a branch. A replayed path follows only edges that lead to kept states.
    pub fn side(&self, at: Position, edge: EdgeId) -> Position {
        match at {
            Position::Seen(state, _) => self.states[state as usize].named.get(&edge).copied().unwrap_or(Position::Done),
            _ => self.step(at, edge),
        }
    }

    /// The automaton for the simplified program. `None` if it distinguishes paths that the simplified program joins.
    pub fn for_simplified(&self, branch_map: &BranchMap) -> Option<Self> {
        // States that paths reach only within merged regions are unreachable.
        let unreached = |state: &State| State { named: FxHashMap::default(), others: Position::Open, own: state.own };
        let mut out = Self { initial: self.initial, states: self.states.iter().map(unreached).collect() };
        let (mut todo, mut seen) = (vec![self.initial], FxHashSet::default());
        while let Some(place) = todo.pop() {
            let (Position::State(number) | Position::Seen(number, _)) = place else { continue };
            if !seen.insert(number) {
                continue;
            }
            let State { named, others, own } = &self.states[number as usize];
            if !matches!(others, Position::Open | Position::Done) && others != own {
                return None;
            }
            let mut here = FxHashMap::default();
            let mut regions: Vec<usize> = Vec::new();
            for (&edge, &to) in named {
                match branch_map.region_of(edge) {
                    Some(region) => regions.push(region),
                    None if branch_map.is_kept(edge) => drop(here.insert(edge, to)),
                    None => return None,
                }
            }
            regions.sort_unstable();
            regions.dedup();
            for region in regions {
                let behind = self.through(*own, branch_map, region)?;
                for (edge, side) in branch_map.sides(region) {
                    here.insert(edge, behind[usize::from(!side)]);
                }
            }
            todo.extend(here.values());
            out.states[number as usize] = State { named: here, others: *others, own: *own };
        }
        Some(out)
    }

    /// The positions after the then-side and the else-side of a region. `None` if paths to the same side end at
    /// different positions.
    fn through(&self, at: Position, branch_map: &BranchMap, region: usize) -> Option<[Position; 2]> {
        let splits = &branch_map.region(region).0;
        let mut behind = [None; 2];
        let (mut todo, mut seen) = (vec![(0, at)], FxHashSet::default());
        while let Some((split, at)) = todo.pop() {
            if !seen.insert((split, at)) {
                continue;
            }
            for (edge, to) in splits[split].edges.into_iter().zip(splits[split].to) {
                let place = self.step(at, edge);
                match to {
                    SideTarget::Split(next) => todo.push((next, place)),
                    SideTarget::Side(side) if *behind[usize::from(!side)].get_or_insert(place) != place => return None,
                    SideTarget::Side(_) => {}
                }
            }
        }
        Some([behind[0]?, behind[1]?])
    }
}
