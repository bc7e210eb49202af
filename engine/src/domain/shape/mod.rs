//! The shape abstraction: it folds chains of nodes to list segments, so that lists of any length have finitely many
//! abstract states.
//!
//! Folding is part of `prec` if the analysis enables it (symbolic memory graphs: Dudka, Peringer, Vojnar, SAS 2013,
//! section 4). It first removes unreachable objects. Two neighbouring nodes become one segment (`Summary`) if they
//! agree on all tracked content, and no other pointer leads to where they meet. Loads unfold segments again. Finally,
//! objects are renumbered in the order in which a traversal from the variables finds them. So states of the same shape
//! are equal.

#[cfg(test)]
mod laws;
mod neighbours;

use crate::domain::symbolic::Loops;
use crate::domain::value::{Item, Precision};
use crate::semantics::control::Control;
use crate::semantics::{ObjId, Object, Origin, State, Summary, Val};
use cfa::Program;
use neighbours::Neighbours;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smt::PathCondition;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Minimal number of nodes of a chain that becomes a segment: the initial value, and its limit [`LONGEST`]. It grows
/// when a refinement cannot refute a path otherwise.
const SHORTEST: usize = 2;
const LONGEST: usize = 5;
/// Neighbours with different tracked content are not folded in chains of at most this length.
const APART: usize = 8;
/// Maximal number of heap objects. A memory with more is not folded.
const MOST: usize = 512;

/// The abstraction of chains in the heap to list segments.
#[derive(Clone, Copy, Debug)]
pub struct ShapeAbstraction {
    /// Minimal number of nodes of a chain that becomes a segment. `None` if folding is disabled.
    shortest: Option<usize>,
}

impl ShapeAbstraction {
    /// An abstraction that folds if `folds`.
    pub fn new(folds: bool) -> Self {
        Self { shortest: folds.then_some(SHORTEST) }
    }

    /// True if chains are folded.
    pub fn folds(&self) -> bool {
        self.shortest.is_some()
    }

    /// Refines the abstraction after a path to `st` was not refuted, maybe because of folding. It tracks all numbers in
    /// heap objects, or else requires longer chains. Returns `false` if there is nothing left to refine.
    pub fn unfold_more(&mut self, st: &State, precision: &mut Precision) -> bool {
        let Some(shortest) = &mut self.shortest else { return false };
        let before = precision.len();
        for (_, node) in st.memory.iter().filter(|(_, o)| is_heap(o)) {
            precision.add_everywhere(node.parts().map(|part| Item::Memory(node.origin, part)));
        }
        if precision.len() > before {
            return true;
        }
        *shortest += 1;
        *shortest <= LONGEST
    }

    /// Folds the memory of a state that was abstracted at `at`, if `at` is a cut point.
    pub fn fold(&self, program: &Program, loops: &Loops, st: &mut State, at: Control) {
        let Some(shortest) = self.shortest else { return };
        let is_head = loops.headed_by(at.loc).is_some() || program.funcs[st.frame.func].entry == at.loc;
        if !is_head || !st.memory.iter().any(|(_, o)| is_heap(o)) {
            return;
        }
        let pointer = program.layout.pointer_width.div_ceil(8);
        Fold { st, shortest, pointer }.run();
    }
}

/// The folding of one state.
struct Fold<'s> {
    st: &'s mut State,
    /// Minimal number of nodes of a chain that becomes a segment.
    shortest: usize,
    /// The length of a pointer in bytes.
    pointer: u32,
}

impl Fold<'_> {
    fn run(&mut self) {
        self.forget_terms();
        self.drop_unreachable();
        if self.st.memory.iter().filter(|(_, o)| is_heap(o)).count() <= MOST {
            while self.fold_some() {}
        }
        self.renumber();
    }

    /// Forgets terms and constraints on addresses, because folding changes the objects.
    fn forget_terms(&mut self) {
        self.st.pc = PathCondition::new();
        self.st.exposed = Rc::default();
        self.st.map_values(|value| match value {
            Val::Expr(_) => Val::Unknown,
            value => value,
        });
    }

    /// Removes unreachable heap objects, except one of each allocation site, which keeps the evidence of a leak. Its
    /// content is forgotten.
    fn drop_unreachable(&mut self) {
        let reachable: FxHashSet<ObjId> = found_from_variables(self.st).into_iter().collect();
        let mut told = FxHashSet::default();
        let lost: Vec<(ObjId, Origin)> = self
            .st
            .memory
            .iter()
            .filter(|&(id, o)| is_heap(o) && !reachable.contains(&id))
            .map(|(id, o)| (id, o.origin))
            .collect();
        for (id, origin) in lost {
            match told.insert(origin) {
                true => {
                    let object = self.st.memory.get(id).expect("it is alive");
                    self.st.memory.replace(id, Object::new(object.size, object.align, origin, false));
                }
                false => self.st.memory.remove(id),
            }
        }
    }

    /// Folds one pair of neighbours. Returns false if there is none.
    fn fold_some(&mut self) -> bool {
        let neighbours = Neighbours::new(&self.st.memory, &addresses_in_variables(self.st), self.pointer);
        let meetings = neighbours.meetings();
        let followers: FxHashSet<ObjId> = meetings.values().map(|m| m.second).collect();
        let mut starts: Vec<ObjId> = meetings.keys().copied().filter(|id| !followers.contains(id)).collect();
        starts.sort_unstable();
        for start in starts {
            let mut chain = vec![start];
            while let Some(m) = meetings.get(chain.last().expect("its start")) {
                chain.push(m.second);
            }
            let is_summary = |&id: &ObjId| self.st.memory.get(id).is_some_and(|o| o.summary.is_some());
            if chain.len() < self.shortest && !chain.iter().any(is_summary) {
                continue;
            }
            let pair = chain.iter().find(|id| meetings.get(id).is_some_and(|m| m.agree || chain.len() > APART));
            if let Some(first) = pair {
                meetings[first].join(&mut self.st.memory, *first, self.pointer);
                return true;
            }
        }
        false
    }

    /// Renumbers the objects in the order in which they are found, so that no object seems to have lived before a dead
    /// one. The last nodes of segments come last, so that a segment and a single node in its place have the same
    /// number.
    fn renumber(&mut self) {
        let globals = self.st.memory.iter().take_while(|(_, o)| matches!(o.origin, Origin::Global(_))).count() as u32;
        let mut order = found_from_variables(self.st);
        let found: FxHashSet<ObjId> = order.iter().copied().collect();
        order.extend(self.st.memory.iter().map(|(id, _)| id).filter(|id| !found.contains(id)));
        order.retain(|id| id.0 >= globals);
        order.sort_by_key(|&id| self.st.memory.get(id).map(Object::is_last));
        let numbers: FxHashMap<ObjId, ObjId> =
            order.iter().enumerate().map(|(i, &id)| (id, ObjId(globals + i as u32))).collect();
        if numbers.iter().all(|(a, b)| a == b) {
            return;
        }
        let number = |id: ObjId| if id.0 < globals { id } else { numbers[&id] };
        self.st.map_values(|value| match value {
            Val::Ptr(id, k) => Val::Ptr(number(id), k),
            value => value,
        });
        let mut memory = self.st.memory.renumbered(|id| Some(number(id)), globals + order.len() as u32);
        let summaries: Vec<(ObjId, Summary)> = memory.iter().filter_map(|(id, o)| Some((id, o.summary?))).collect();
        for (id, summary) in summaries {
            memory.get_mut(id).expect("just seen").summary = Some(match summary {
                Summary::Segment { next, back, least } => {
                    Summary::Segment { next, back: back.map(|(l, last)| (l, number(last))), least }
                }
                Summary::Last(first) => Summary::Last(number(first)),
            });
        }
        let owned: Vec<(ObjId, ObjId)> = memory.iter().filter_map(|(id, o)| Some((id, o.owner?))).collect();
        for (id, owner) in owned {
            memory.get_mut(id).expect("just seen").owner = Some(number(owner));
        }
        self.st.memory = memory;
        self.st.change_frames(|frame| {
            frame.objects.retain(|id| numbers.contains_key(id));
            frame.objects.iter_mut().for_each(|id| *id = number(*id));
        });
    }
}

/// A hash of the memory. States of which one may cover the other have equal hashes.
pub fn shape(st: &State) -> u64 {
    let mut hasher = FxHasher::default();
    let objects = st.memory.iter().filter(|(_, o)| !o.is_last());
    objects.for_each(|(_, o)| o.origin.hash(&mut hasher));
    hasher.finish()
}

fn is_heap(object: &Object) -> bool {
    matches!(object.origin, Origin::Heap(_))
}

/// The objects whose addresses are in variables.
fn addresses_in_variables(st: &State) -> Vec<ObjId> {
    let locals = st.frames().flat_map(|f| f.vars.iter());
    let address = |value: &Val| if let Val::Ptr(object, _) = *value { Some(object) } else { None };
    st.globals.iter().chain(locals).filter_map(address).collect()
}

/// The objects reachable from variables and from non-heap memory, in the order in which a depth-first search finds
/// them.
fn found_from_variables(st: &State) -> Vec<ObjId> {
    let mut order = Vec::new();
    let mut seen = FxHashSet::default();
    let roots = addresses_in_variables(st).into_iter();
    let mut work: Vec<ObjId> = roots.chain(st.memory.iter().filter(|(_, o)| !is_heap(o)).map(|(id, _)| id)).collect();
    work.reverse();
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        order.push(id);
        let Some(object) = st.memory.get(id) else { continue };
        let begin = work.len();
        object.for_each_cell(|_, _, value| {
            if let Val::Ptr(to, _) = value {
                work.push(to);
            }
        });
        work.extend(object.summary.and_then(Summary::other_end));
        work[begin..].reverse();
    }
    order
}
