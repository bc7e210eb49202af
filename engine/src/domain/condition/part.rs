//! Which paths of a program are looked at, where that is not all of them: an automaton beside the exploration, as in conditional
//! model checking (Beyer, Henzinger, Keremoglu, Wendler, FSE 2012), and not woven into the program. So what is left of a run is
//! explored on the program itself, where a path that has left the automaton is like any other and covers the others.
//!
//! Whoever makes one says of the paths left out that they are verified, if those that are looked at are.

use crate::simplify::{Joined, To};
use cfa::EdgeId;
use rustc_hash::{FxHashMap, FxHashSet};

/// Where a path is in the automaton.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    State(u32),
    /// All that follows is looked at.
    Open,
    /// Nothing that follows is.
    Done,
    /// Nothing that follows is, but states that were met from here on covered others, and do so again for whoever goes there: the state of
    /// the automaton that leads to them, and heads passed in it.
    Seen(u32, u8),
}

/// A deterministic automaton over the edges of the program that is explored.
#[derive(Clone, Debug)]
pub struct Part {
    pub initial: Place,
    pub states: Vec<State>,
}

/// A state of a [`Part`].
#[derive(Clone, Debug)]
pub struct State {
    /// Where edges lead.
    pub named: FxHashMap<EdgeId, Place>,
    /// And all others.
    pub others: Place,
    /// Where paths are that are in it.
    pub own: Place,
}

impl Part {
    /// Behind an edge.
    pub fn step(&self, at: Place, edge: EdgeId) -> Place {
        let (Place::State(state) | Place::Seen(state, _)) = at else { return at };
        let State { named, others, own } = &self.states[state as usize];
        named.get(&edge).copied().unwrap_or(if others == own { at } else { *others })
    }

    /// Behind a side of a branch. Nobody goes where no state is to be seen.
    pub fn side(&self, at: Place, edge: EdgeId) -> Place {
        match at {
            Place::Seen(state, _) => self.states[state as usize].named.get(&edge).copied().unwrap_or(Place::Done),
            _ => self.step(at, edge),
        }
    }

    /// The same for the simplified program. `None` if it tells ways apart that are one there.
    pub fn joined(&self, joined: &Joined) -> Option<Self> {
        // States within regions are none of it.
        let unreached = |state: &State| State { named: FxHashMap::default(), others: Place::Open, own: state.own };
        let mut out = Self { initial: self.initial, states: self.states.iter().map(unreached).collect() };
        let (mut todo, mut seen) = (vec![self.initial], FxHashSet::default());
        while let Some(place) = todo.pop() {
            let (Place::State(number) | Place::Seen(number, _)) = place else { continue };
            if !seen.insert(number) {
                continue;
            }
            let State { named, others, own } = &self.states[number as usize];
            if !matches!(others, Place::Open | Place::Done) && others != own {
                return None;
            }
            let mut here = FxHashMap::default();
            let mut regions: Vec<usize> = Vec::new();
            for (&edge, &to) in named {
                match joined.region_of(edge) {
                    Some(region) => regions.push(region),
                    None if joined.is_kept(edge) => drop(here.insert(edge, to)),
                    None => return None,
                }
            }
            regions.sort_unstable();
            regions.dedup();
            for region in regions {
                let behind = self.through(*own, joined, region)?;
                for (edge, side) in joined.sides(region) {
                    here.insert(edge, behind[usize::from(!side)]);
                }
            }
            todo.extend(here.values());
            out.states[number as usize] = State { named: here, others: *others, own: *own };
        }
        Some(out)
    }

    /// Behind the two sides of a region, if all ways to each lead to one place.
    fn through(&self, at: Place, joined: &Joined, region: usize) -> Option<[Place; 2]> {
        let splits = &joined.region(region).0;
        let mut behind = [None; 2];
        let (mut todo, mut seen) = (vec![(0, at)], FxHashSet::default());
        while let Some((split, at)) = todo.pop() {
            if !seen.insert((split, at)) {
                continue;
            }
            for (edge, to) in splits[split].edges.into_iter().zip(splits[split].to) {
                let place = self.step(at, edge);
                match to {
                    To::Split(next) => todo.push((next, place)),
                    To::Side(side) if *behind[usize::from(!side)].get_or_insert(place) != place => return None,
                    To::Side(_) => {}
                }
            }
        }
        Some([behind[0]?, behind[1]?])
    }
}
