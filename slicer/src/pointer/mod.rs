//! Points-to analysis: inclusion-based (Andersen), field-sensitive, with function pointers resolved on the fly.
//!
//! The analysis assumes what C guarantees or leaves undefined:
//!
//! - A pointer plus an integer points into the object of the pointer, or into an object from whose address the integer
//!   was computed as a distance.
//! - Objects that are declared elsewhere hold no pointers into this program.
//! - An access stays within the object that its pointer was derived from.
//!
//! An input may be the address of any object, or a part of one.

mod graph;
mod instances;
mod memory;
mod sets;
mod solve;
mod terms;
mod unify;

pub use memory::{Location, LocationId, Object, ObjectId, ObjectKind, Slot, outside};
pub use terms::{Shift, gcd};

use crate::sparse_set::SparseSet;
use cfa::{
    Callee, EdgeId, ExprId, FuncId, FunctionOrigin, Global, Id, Input, InputKind, Op, Program, Table, Var, VarKind,
};
use memory::Memory;
use rustc_hash::FxHashMap;
use solve::Solver;
use std::rc::Rc;
use std::time::Instant;
use terms::{Base, LeafTransform, Terms};
use unify::Unifier;

/// The kind of constraints.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Inclusion-based (Andersen).
    #[default]
    Inclusion,
    /// Unification-based (Steensgaard), without fields: almost linear.
    Unification,
}

/// The memory that an undefined function may read or write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Extent {
    /// No memory.
    #[default]
    Nothing,
    /// The objects that are reachable from arguments of any undefined function, and objects that are declared
    /// elsewhere.
    Reachable,
    /// The objects of `Reachable`, and all that is reachable from global variables, except static ones.
    Global,
    /// Any object.
    Everything,
}

/// The behaviour of undefined functions. By default they only return an arbitrary value, as their bodies in the program
/// do, and a taint covers everything else. If they may read or write, they may also return pointers that they have and
/// call functions that they have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Undefined {
    /// The memory that they may read.
    pub reads: Extent,
    /// The memory that they may write.
    pub writes: Extent,
}

impl Undefined {
    /// Undefined functions read and write everything that they can reach. Sound for any library function.
    pub const SOUND: Self = Self { reads: Extent::Reachable, writes: Extent::Reachable };
    /// Undefined functions also use the global variables of the program by their names. Sound for any function.
    pub const LINKED: Self = Self { reads: Extent::Global, writes: Extent::Global };

    /// True if they use a global object by its name.
    fn knows(self, global: &Global) -> bool {
        global.init.is_none() || self.knows_program() && !global.is_static
    }

    /// True if they use a global variable by its name.
    pub fn knows_var(self, var: &Var) -> bool {
        self.knows_program() && matches!(var.kind, VarKind::Global { is_static: false, .. })
    }

    fn knows_program(self) -> bool {
        self.reads == Extent::Global || self.writes == Extent::Global
    }
}

/// The options of the points-to analysis.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kind of constraints.
    pub mode: Mode,
    /// True if the fields of objects are distinguished. Unification ignores it.
    pub fields: bool,
    /// The length of call strings that distinguish heap objects of one allocation, usually 0 to 2.
    pub heap_contexts: u8,
    /// The behaviour of undefined functions.
    pub undefined: Undefined,
    /// True if the environment knows only the addresses that the program exposes (TS 6010), so that its inputs are
    /// addresses of no other objects. For whole programs only: a slice does not expose all addresses that its program
    /// exposes. Unification ignores it.
    pub exposure: bool,
    /// The limit on work steps (about 50 ns each), after which unification replaces inclusion. Steps are counted, not
    /// timed, so the result is reproducible.
    pub budget: u64,
    /// The time at which the analysis gives up.
    pub deadline: Option<Instant>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::Inclusion,
            fields: true,
            heap_contexts: 1,
            undefined: Undefined::default(),
            exposure: false,
            budget: 400_000_000,
            deadline: None,
        }
    }
}

/// A set of locations, or the start of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Places {
    /// The set with this number.
    Set(u32),
    /// The start of the object.
    Object(ObjectId),
}

/// The result of the analysis: the points-to set of each expression, and the callees of each call.
#[derive(Clone)]
pub struct PointsTo<'p> {
    program: &'p Program,
    terms: Terms<'p>,
    /// The abstract objects.
    pub objects: Table<ObjectId, Object>,
    /// The abstract locations.
    pub locations: Table<LocationId, Location>,
    /// By variable, the numbers of its sets.
    sets: Vec<VarSets>,
    distinct: Vec<Rc<SparseSet>>,
    /// The objects of the sets that [`pointees`](Self::pointees) has read, sorted and without duplicates.
    objects_of_sets: FxHashMap<u32, Vec<ObjectId>>,
    external: u32,
    undefined: Undefined,
    reached: Vec<bool>,
    indirect: FxHashMap<EdgeId, Vec<FuncId>>,
    globals: u32,
    alloc_objects: FxHashMap<EdgeId, Vec<ObjectId>>,
    /// Statistics of the analysis.
    pub stats: Stats,
}

/// Statistics of the points-to analysis.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    /// The number of waves; 0 for unification.
    pub waves: u32,
    /// The number of nodes in the constraint graph.
    pub nodes: usize,
    /// The number of locations.
    pub locations: usize,
    /// True if inclusion took too much work and unification replaced it.
    pub given_up: bool,
}

/// The numbers of a variable's sets among the distinct sets.
#[derive(Clone, Copy, Default)]
struct VarSets {
    points_to: u32,
    /// The targets of a pointer plus the variable, where the variable holds a distance.
    leads_to: u32,
}

impl VarSets {
    /// The set and the shift that the variable contributes to an expression; `None` if it contributes no pointers.
    fn contribution(self, way: LeafTransform) -> Option<(u32, Shift)> {
        match way {
            LeafTransform::Moved(shift) => Some((self.points_to, shift)),
            LeafTransform::Arrival => (self.leads_to != 0).then_some((self.leads_to, Shift::ANY)),
            LeafTransform::Distance | LeafTransform::Number | LeafTransform::Exposure => None,
        }
    }
}

/// The result of a solver.
struct Solution<'p> {
    terms: Terms<'p>,
    memory: Memory,
    /// By variable, the numbers of its sets.
    sets: Vec<VarSets>,
    /// The distinct sets. The first is empty.
    distinct: Vec<Rc<SparseSet>>,
    /// The number of the set that undefined functions have.
    external: u32,
    reached: Vec<bool>,
    address_taken: Vec<FuncId>,
    waves: u32,
    nodes: usize,
}

impl<'p> PointsTo<'p> {
    /// Computes the points-to sets. Falls back to unification if inclusion takes too much work. Returns `None` if the
    /// deadline passed.
    pub fn compute(program: &'p Program, options: &Options) -> Option<Self> {
        let mut given_up = false;
        if options.mode == Mode::Inclusion {
            let mut solver = Solver::new(program, options);
            if solver.solve() {
                return Some(Self::new(program, solver.solution(), options.undefined, false));
            }
            if options.deadline.is_some_and(|d| Instant::now() > d) {
                return None;
            }
            given_up = true;
        }
        let solution = Unifier::new(program, options).solve(options.deadline)?;
        Some(Self::new(program, solution, options.undefined, given_up))
    }

    fn new(program: &'p Program, solution: Solution<'p>, undefined: Undefined, given_up: bool) -> Self {
        let Solution { terms, memory, sets, distinct, external, reached, address_taken, waves, nodes } = solution;
        let stats = Stats { waves, nodes, locations: memory.locations.len(), given_up };
        let mut points_to = Self {
            program,
            terms,
            objects: memory.objects,
            locations: memory.locations,
            sets,
            distinct,
            objects_of_sets: FxHashMap::default(),
            external,
            undefined,
            reached,
            indirect: FxHashMap::default(),
            globals: program.globals.len() as u32,
            alloc_objects: memory.alloc_objects,
            stats,
        };
        for (id, edge) in program.edges.iter() {
            let found = match edge.op {
                Op::Call { callee: Callee::Indirect(e), .. } => points_to.points_to(e),
                // An undefined function may call the functions that it has.
                Op::Approx { .. } if external != 0 && points_to.is_undefined(id) => points_to.external(),
                _ => continue,
            };
            if points_to.reached[program.func_of(id).index()] {
                let callees = points_to.functions(&found, &address_taken);
                points_to.indirect.insert(id, callees);
            }
        }
        points_to
    }
    /// The program of the analysis.
    pub fn program(&self) -> &'p Program {
        self.program
    }
    fn is_undefined(&self, edge: EdgeId) -> bool {
        self.program.funcs[self.program.func_of(edge)].origin == FunctionOrigin::Undefined
    }
    /// The functions among the locations, in the order of their ids.
    fn functions(&self, locations: &[Location], address_taken: &[FuncId]) -> Vec<FuncId> {
        let mut found = Vec::new();
        for l in locations {
            match self.objects[l.object].kind {
                ObjectKind::Func(f) => found.push(f),
                ObjectKind::Unknown => found.extend(address_taken),
                _ => {}
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
    /// The locations to which undefined functions have pointers.
    pub fn external(&self) -> Vec<Location> {
        self.set(self.external).collect()
    }

    /// Returns true if the function may be called, according to this analysis.
    pub fn is_reached(&self, f: FuncId) -> bool {
        self.reached[f.index()]
    }
    /// The functions that the edge may call, in the order of their ids.
    pub fn callees(&self, call: EdgeId) -> &[FuncId] {
        match &self.program.edges[call].op {
            Op::Call { callee: Callee::Direct(f), .. } => std::slice::from_ref(f),
            _ => self.indirect.get(&call).map_or(&[], Vec::as_slice),
        }
    }
    /// The object of a global.
    pub fn global(&self, g: cfa::GlobalId) -> ObjectId {
        debug_assert!(g.0 < self.globals);
        ObjectId(g.0)
    }
    /// The objects of an `Alloc` edge: one, or for heap objects one for each calling context.
    pub fn allocs(&self, edge: EdgeId) -> &[ObjectId] {
        self.alloc_objects.get(&edge).map_or(&[], Vec::as_slice)
    }
    /// The locations that the value of an expression may point to, sorted and without duplicates.
    pub fn points_to(&mut self, e: ExprId) -> Vec<Location> {
        let mut found = Vec::new();
        for (places, shift) in self.places(e) {
            match places {
                Places::Set(set) => found.extend(self.set(set).map(|l| Location { at: l.at.then(shift), ..l })),
                Places::Object(object) => found.push(Location { object, at: shift }),
            }
        }
        found.sort_unstable_by_key(|l| (l.object, l.at));
        found.dedup();
        found
    }
    /// The objects that the value of an expression may point to, sorted and without duplicates.
    pub fn pointees(&mut self, e: ExprId) -> Vec<ObjectId> {
        let mut found = Vec::new();
        for (places, _) in self.places(e) {
            match places {
                Places::Set(set) => {
                    let (distinct, locations) = (&self.distinct, &self.locations);
                    let objects = self.objects_of_sets.entry(set).or_insert_with(|| {
                        let objects = distinct[set as usize].iter().map(|l| locations[LocationId(l)].object);
                        sorted(objects.collect())
                    });
                    found.extend_from_slice(objects);
                }
                Places::Object(object) => found.push(object),
            }
        }
        sorted(found)
    }
    /// The objects that may leak.
    pub fn heap(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let is_heap = |kind: ObjectKind| match kind {
            ObjectKind::Alloc(e) => matches!(self.program.edges[e].op, Op::Alloc { kind, .. } if kind.may_leak()),
            _ => false,
        };
        self.objects.iter().filter(move |(_, o)| is_heap(o.kind)).map(|(id, _)| id)
    }
    /// Like [`points_to`](Self::points_to), but returns numbers of sets, each with a shift of its locations.
    pub fn places(&mut self, e: ExprId) -> Vec<(Places, Shift)> {
        let mut found = Vec::new();
        for term in self.terms.terms(e) {
            found.extend(match (term.base, term.way) {
                (Base::Var(v), way) => {
                    self.sets[v.index()].contribution(way).map(|(set, shift)| (Places::Set(set), shift))
                }
                (Base::Global(g), LeafTransform::Moved(shift)) => Some((Places::Object(ObjectId(g.0)), shift)),
                (Base::Func(f), LeafTransform::Moved(shift)) => {
                    Some((Places::Object(ObjectId(self.globals + f.0)), shift))
                }
                _ => None,
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }
    /// The objects to which a pointer plus the value of an expression may point because the value is the distance
    /// between two objects, sorted and without duplicates.
    pub fn distances(&mut self, e: ExprId) -> Vec<ObjectId> {
        let mut found = Vec::new();
        for term in self.terms.terms(e) {
            match (term.base, term.way) {
                (_, LeafTransform::Arrival | LeafTransform::Exposure) => {}
                (Base::Var(v), way) => {
                    let VarSets { points_to, leads_to } = self.sets[v.index()];
                    let is_new = way == LeafTransform::Distance;
                    for set in [Some(leads_to), is_new.then_some(points_to)].into_iter().flatten() {
                        let locations = self.distinct[set as usize].iter();
                        found.extend(locations.map(|l| self.locations[LocationId(l)].object));
                    }
                }
                (Base::Global(g), LeafTransform::Distance) => found.push(ObjectId(g.0)),
                (Base::Func(f), LeafTransform::Distance) => found.push(ObjectId(self.globals + f.0)),
                (Base::Global(_) | Base::Func(_), _) => {}
            }
        }
        sorted(found)
    }
    /// The locations of a set.
    pub fn set(&self, set: u32) -> impl Iterator<Item = Location> + '_ {
        self.distinct[set as usize].iter().map(|l| self.locations[LocationId(l)])
    }
    /// For an edge that represents the effects of an undefined function: the memory that it may access, and how. `None`
    /// for all other edges.
    pub fn external_access(&self, edge: EdgeId) -> Option<(Places, Undefined)> {
        (self.external != 0 && self.is_undefined(edge)).then_some((Places::Set(self.external), self.undefined))
    }
}

fn sorted(mut objects: Vec<ObjectId>) -> Vec<ObjectId> {
    objects.sort_unstable();
    objects.dedup();
    objects
}

/// Returns true if an input, or a value composed from it, may be the address of an object. The program must have
/// converted the address of such an object to an integer (TS 6010). Uninitialised values must not be used, so they are
/// no addresses.
fn may_be_address(input: &Input) -> bool {
    !matches!(input.kind, InputKind::Uninit(_))
}

/// The distinct sets of a solution, numbered.
struct Numbers {
    distinct: Vec<Rc<SparseSet>>,
    known: FxHashMap<Rc<SparseSet>, u32>,
    parted: FxHashMap<sets::SetId, VarSets>,
}

impl Numbers {
    fn number(&mut self, set: SparseSet) -> u32 {
        if let Some(&known) = self.known.get(&set) {
            return known;
        }
        let set = Rc::new(set);
        self.distinct.push(set.clone());
        let number = self.distinct.len() as u32 - 1;
        self.known.insert(set, number);
        number
    }
    /// Splits a set into its pointers and the targets of the distances in it. Returns the numbers of both sets.
    fn parted(&mut self, pool: &sets::SetPool, memory: &mut Memory, set: sets::SetId) -> VarSets {
        if let Some(&known) = self.parted.get(&set) {
            return known;
        }
        let all = pool.get(set);
        let (mut pointers, mut arrivals) = (Vec::new(), Vec::new());
        for location in all.iter().map(LocationId) {
            if memory.is_mark(location) {
                continue;
            }
            match memory.moved(location, LeafTransform::Arrival) {
                Some(arrival) => arrivals.push(arrival.0),
                None => pointers.push(location.0),
            }
        }
        arrivals.sort_unstable();
        let parts = VarSets {
            points_to: self.number(pointers.into_iter().collect()),
            leads_to: self.number(arrivals.into_iter().collect()),
        };
        self.parted.insert(set, parts);
        parts
    }
}
