//! Points-to analysis: inclusion-based (Andersen), field-sensitive, with function pointers resolved on the fly.
//!
//! What it takes for granted: a pointer plus an integer points into the object that the pointer points into, and
//! the difference of two pointers is no pointer; what is declared elsewhere holds no pointers into this program; an access stays within the object its pointer was derived from; and an integer
//! that is not derived from a pointer is the address of nothing. Both are what C guarantees or leaves undefined.

mod memory;
mod solve;
mod terms;

pub use memory::{Location, LocationId, Object, ObjectId, ObjectKind, Slot, outside};
pub use terms::{Shift, gcd};

use crate::sparse_set::SparseSet;
use cfa::{Callee, EdgeId, ExprId, FuncId, Id, Op, Program, Table};
use rustc_hash::FxHashMap;
use solve::Solver;
use std::time::Instant;
use terms::{Base, Terms};

/// How precise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Inclusion-based and field-sensitive.
    #[default]
    Inclusion,
    /// Unification-based (Steensgaard) without fields: almost linear.
    Unification,
}

#[derive(Clone, Debug, Default)]
pub struct Options {
    pub mode: Mode,
    /// Give up then.
    pub deadline: Option<Instant>,
}

/// The result: what every expression may point to, and whom every call may call.
pub struct PointsTo<'p> {
    program: &'p Program,
    terms: Terms<'p>,
    pub objects: Table<ObjectId, Object>,
    pub locations: Table<LocationId, Location>,
    /// By variable.
    sets: Vec<u32>,
    distinct: Vec<SparseSet>,
    reached: Vec<bool>,
    indirect: FxHashMap<EdgeId, Vec<FuncId>>,
    globals: u32,
    alloc_objects: FxHashMap<EdgeId, ObjectId>,
    pub stats: Stats,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    pub waves: u32,
    pub nodes: usize,
    pub locations: usize,
}

impl<'p> PointsTo<'p> {
    /// `None` if the deadline passed. Where inclusions grow too large, the result is by unification.
    pub fn compute(program: &'p Program, options: &Options) -> Option<Self> {
        let mut solver = Solver::new(program, options);
        if solver.solve() {
            return Some(solver.finish());
        }
        drop(solver);
        if options.mode == Mode::Unification || options.deadline.is_some_and(|d| Instant::now() > d) {
            return None;
        }
        let mut solver = Solver::new(program, &Options { mode: Mode::Unification, ..options.clone() });
        solver.solve().then(|| solver.finish())
    }

    /// Whether the function can be called, as far as this analysis sees.
    pub fn is_reached(&self, f: FuncId) -> bool {
        self.reached[f.index()]
    }
    /// Whom the call may call, in order of id.
    pub fn callees(&self, call: EdgeId) -> &[FuncId] {
        match &self.program.edges[call].op {
            Op::Call { callee: Callee::Direct(f), .. } => std::slice::from_ref(f),
            _ => self.indirect.get(&call).map_or(&[], Vec::as_slice),
        }
    }
    /// The object of a global or of an `Alloc` edge.
    pub fn global(&self, g: cfa::GlobalId) -> ObjectId {
        debug_assert!(g.0 < self.globals);
        ObjectId(g.0)
    }
    pub fn alloc(&self, edge: EdgeId) -> ObjectId {
        self.alloc_objects[&edge]
    }
    /// Where the value of an expression may point: sorted, each once.
    pub fn points_to(&mut self, e: ExprId) -> Vec<Location> {
        let mut found = Vec::new();
        for term in self.terms.of(e).to_vec() {
            match term.base {
                Base::Var(v) => {
                    for l in self.distinct[self.sets[v.index()] as usize].iter() {
                        let Location { object, at } = self.locations[LocationId(l)];
                        let at = if at == Shift::ANY { at } else { at.then(term.shift) };
                        found.push(Location { object, at });
                    }
                }
                Base::Global(g) => found.push(Location { object: ObjectId(g.0), at: term.shift }),
                Base::Func(f) => {
                    found.push(Location { object: ObjectId(self.globals + f.0), at: term.shift });
                }
            }
        }
        found.sort_unstable_by_key(|l| (l.object, l.at));
        found.dedup();
        found
    }
    /// A key for the set that [`points_to`](Self::points_to) gives: equal keys, equal sets.
    pub fn set_key(&mut self, e: ExprId) -> Vec<(u64, Shift)> {
        let mut key = Vec::new();
        for term in self.terms.of(e) {
            let base = match term.base {
                Base::Var(v) => u64::from(self.sets[v.index()]),
                Base::Global(g) => 1 << 32 | u64::from(g.0),
                Base::Func(f) => 2 << 32 | u64::from(f.0),
            };
            key.push((base, term.shift));
        }
        key
    }
    /// Whether accesses of so many bytes through the two addresses may touch a common byte.
    pub fn may_alias(&mut self, a: ExprId, a_width: u32, b: ExprId, b_width: u32) -> bool {
        let (a, b) = (self.points_to(a), self.points_to(b));
        let anything = |l: &Location| matches!(self.objects[l.object].kind, ObjectKind::Unknown);
        if a.iter().any(anything) && !b.is_empty() || b.iter().any(anything) && !a.is_empty() {
            return true;
        }
        a.iter().any(|x| {
            b.iter().any(|y| x.object == y.object && Slot::new(x.at, a_width).overlaps(&Slot::new(y.at, b_width)))
        })
    }
}

impl<'p> Solver<'p> {
    fn finish(self) -> PointsTo<'p> {
        let program = self.program();
        // Variables of one node share one set.
        let mut distinct = vec![SparseSet::new()];
        let mut of_node: FxHashMap<u32, u32> = FxHashMap::default();
        let mut of_set: FxHashMap<SparseSet, u32> = FxHashMap::default();
        of_set.insert(SparseSet::new(), 0);
        let mut sets = Vec::with_capacity(program.vars.len());
        for v in program.vars.ids() {
            let node = self.find(self.var_node(v));
            let set = *of_node.entry(node).or_insert_with(|| {
                let set = self.points_to(node);
                if let Some(&known) = of_set.get(set) {
                    return known;
                }
                let id = distinct.len() as u32;
                distinct.push(set.clone());
                of_set.insert(set.clone(), id);
                id
            });
            sets.push(set);
        }
        let stats = Stats { waves: self.waves, nodes: self.node_count(), locations: self.memory.locations.len() };
        PointsTo {
            program,
            sets,
            distinct,
            reached: self.reached,
            indirect: self.indirect,
            globals: program.globals.len() as u32,
            alloc_objects: self.memory.alloc_objects,
            objects: self.memory.objects,
            locations: self.memory.locations,
            terms: self.terms,
            stats,
        }
    }
}
