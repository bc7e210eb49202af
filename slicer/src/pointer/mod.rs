//! Points-to analysis: inclusion-based (Andersen), field-sensitive, with function pointers resolved on the fly.
//!
//! What it takes for granted: a pointer plus an integer points into the object that the pointer points into, or into one of those from
//! whose addresses the integer was computed as a distance; what is declared elsewhere holds no pointers into this program; and an access stays within the object its pointer was derived from: what C guarantees or leaves undefined.
//! An input may be the address of any object, or part of one.

mod generate;
mod graph;
mod memory;
mod sets;
mod solve;
mod terms;
mod unify;

pub use memory::{Location, LocationId, Object, ObjectId, ObjectKind, Slot, outside};
pub use terms::{Shift, gcd};

use crate::sparse_set::SparseSet;
use cfa::{Callee, EdgeId, ExprId, FuncId, FunctionOrigin, Id, Op, Program, Table};
use memory::Memory;
use rustc_hash::FxHashMap;
use solve::Solver;
use std::rc::Rc;
use std::time::Instant;
use terms::{Base, Terms, Way};
use unify::Unifier;

/// How pointers are followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Inclusion-based (Andersen).
    #[default]
    Inclusion,
    /// Unification-based (Steensgaard), without fields: almost linear.
    Unification,
}

/// How much memory a function that nobody defines may read or write.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Extent {
    #[default]
    Nothing,
    /// What can be reached from arguments that functions nobody defines were ever passed, and objects that are
    /// declared elsewhere.
    Reachable,
    /// Any object.
    Everything,
}

/// What functions that nobody defines do. By default nothing but return any value: that is what
/// their bodies in the program say, and for a verifier their taint says the rest. If they do more, they may also
/// return pointers to what they know, and call the functions that they know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Undefined {
    pub reads: Extent,
    pub writes: Extent,
}

impl Undefined {
    /// Reads and writes whatever it can reach: sound for any library function.
    pub const SOUND: Self = Self { reads: Extent::Reachable, writes: Extent::Reachable };
}

#[derive(Clone, Debug)]
pub struct Options {
    pub mode: Mode,
    /// Whether the fields of objects are told apart. Not by unification.
    pub fields: bool,
    /// How many calls up heap objects of one allocation are told apart (the length of call strings, 0 to 2 or so).
    pub heap_contexts: u8,
    pub undefined: Undefined,
    /// How much work to do (some 50 ns each) before inclusion is given up for unification. Counted, not measured, so
    /// that the result is always the same.
    pub budget: u64,
    /// Give up altogether then.
    pub deadline: Option<Instant>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            mode: Mode::Inclusion,
            fields: true,
            heap_contexts: 1,
            undefined: Undefined::default(),
            budget: 400_000_000,
            deadline: None,
        }
    }
}

/// Places that pointers point to: those of a set, or an object's start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Places {
    /// By its number.
    Set(u32),
    Object(ObjectId),
}

/// The result: what every expression may point to, and whom every call may call.
pub struct PointsTo<'p> {
    program: &'p Program,
    terms: Terms<'p>,
    pub objects: Table<ObjectId, Object>,
    pub locations: Table<LocationId, Location>,
    /// By variable.
    sets: Vec<VarSets>,
    distinct: Vec<Rc<SparseSet>>,
    external: u32,
    undefined: Undefined,
    reached: Vec<bool>,
    indirect: FxHashMap<EdgeId, Vec<FuncId>>,
    globals: u32,
    alloc_objects: FxHashMap<EdgeId, Vec<ObjectId>>,
    pub stats: Stats,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Stats {
    pub waves: u32,
    pub nodes: usize,
    pub locations: usize,
    /// Inclusion was given up for unification.
    pub given_up: bool,
}

/// Which of the distinct sets a variable has.
#[derive(Clone, Copy, Default)]
struct VarSets {
    points_to: u32,
    /// Where one gets to who adds it to a pointer, as it may be a distance.
    leads_to: u32,
}

impl VarSets {
    /// Of a leaf's pointers and distances; `None` if they are no pointers.
    fn behind(self, way: Way) -> Option<(u32, Shift)> {
        match way {
            Way::Moved(shift) => Some((self.points_to, shift)),
            Way::Arrival => (self.leads_to != 0).then_some((self.leads_to, Shift::ANY)),
            Way::Distance => None,
        }
    }
}

/// What a solver found.
struct Solution<'p> {
    terms: Terms<'p>,
    memory: Memory,
    /// By variable.
    sets: Vec<VarSets>,
    /// The first is empty.
    distinct: Vec<Rc<SparseSet>>,
    /// What functions that nobody defines know.
    external: u32,
    reached: Vec<bool>,
    address_taken: Vec<FuncId>,
    waves: u32,
    nodes: usize,
}

impl<'p> PointsTo<'p> {
    /// `None` if the deadline passed. Where inclusion takes too much work, the result is by unification.
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
                // Code that is not there may call what it knows.
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
    fn is_undefined(&self, edge: EdgeId) -> bool {
        self.program.funcs[self.program.func_of(edge)].origin == FunctionOrigin::Undefined
    }
    /// The functions among some locations, in order.
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
    /// What functions that nobody defines may read and write, as far as the options let them.
    pub fn external(&self) -> Vec<Location> {
        self.set(self.external).collect()
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
    /// The object of a global.
    pub fn global(&self, g: cfa::GlobalId) -> ObjectId {
        debug_assert!(g.0 < self.globals);
        ObjectId(g.0)
    }
    /// The objects of an `Alloc` edge: one, or on the heap one for each calling context.
    pub fn allocs(&self, edge: EdgeId) -> &[ObjectId] {
        self.alloc_objects.get(&edge).map_or(&[], Vec::as_slice)
    }
    /// Where the value of an expression may point: sorted, each once.
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
    /// The objects that may leak.
    pub fn heap(&self) -> impl Iterator<Item = ObjectId> + '_ {
        let is_heap = |kind: ObjectKind| match kind {
            ObjectKind::Alloc(e) => matches!(self.program.edges[e].op, Op::Alloc { kind, .. } if kind.may_leak()),
            _ => false,
        };
        self.objects.iter().filter(move |(_, o)| is_heap(o.kind)).map(|(id, _)| id)
    }
    /// The same as [`points_to`](Self::points_to), by name: the places, each moved by its shift.
    pub fn places(&mut self, e: ExprId) -> Vec<(Places, Shift)> {
        let mut found = Vec::new();
        for term in self.terms.of(e) {
            found.extend(match (term.base, term.way) {
                (Base::Var(v), way) => self.sets[v.index()].behind(way).map(|(set, shift)| (Places::Set(set), shift)),
                (Base::Global(g), Way::Moved(shift)) => Some((Places::Object(ObjectId(g.0)), shift)),
                (Base::Func(f), Way::Moved(shift)) => Some((Places::Object(ObjectId(self.globals + f.0)), shift)),
                _ => None,
            });
        }
        found.sort_unstable();
        found.dedup();
        found
    }
    /// The places of a set.
    pub fn set(&self, set: u32) -> impl Iterator<Item = Location> + '_ {
        self.distinct[set as usize].iter().map(|l| self.locations[LocationId(l)])
    }
    /// What the code that is not there may read and write at an edge that stands for it.
    pub fn external_access(&self, edge: EdgeId) -> Option<(Places, Undefined)> {
        (self.external != 0 && self.is_undefined(edge)).then_some((Places::Set(self.external), self.undefined))
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
    fn solution(mut self) -> Solution<'p> {
        let program = self.program;
        let mut numbers = Numbers { distinct: Vec::new(), known: FxHashMap::default(), parted: FxHashMap::default() };
        numbers.of(SparseSet::new());
        let mut sets = Vec::with_capacity(program.vars.len());
        for v in program.vars.ids() {
            let mut found: Vec<_> = self.instances.nodes(program, v).map(|n| self.graph.points_to(n)).collect();
            let set = self.graph.sets.union_all(sets::SetId::EMPTY, &mut found);
            sets.push(numbers.parted(&self.graph.sets, &mut self.memory, set));
        }
        let external = self.external.map_or(sets::SetId::EMPTY, |n| self.graph.points_to(n));
        let external = numbers.parted(&self.graph.sets, &mut self.memory, external).points_to;
        let distinct = numbers.distinct;
        Solution {
            sets,
            external,
            distinct,
            address_taken: self.address_taken,
            waves: self.waves,
            nodes: self.graph.len(),
            memory: self.memory,
            terms: self.terms,
            reached: self.reached,
        }
    }
}

/// The distinct sets of a solution.
struct Numbers {
    distinct: Vec<Rc<SparseSet>>,
    known: FxHashMap<Rc<SparseSet>, u32>,
    parted: FxHashMap<sets::SetId, VarSets>,
}

impl Numbers {
    fn of(&mut self, set: SparseSet) -> u32 {
        if let Some(&known) = self.known.get(&set) {
            return known;
        }
        let set = Rc::new(set);
        self.distinct.push(set.clone());
        let number = self.distinct.len() as u32 - 1;
        self.known.insert(set, number);
        number
    }
    /// A set's pointers, and where its distances lead to.
    fn parted(&mut self, pool: &sets::SetPool, memory: &mut Memory, set: sets::SetId) -> VarSets {
        if let Some(&known) = self.parted.get(&set) {
            return known;
        }
        let all = pool.get(set);
        let (mut pointers, mut arrivals) = (Vec::new(), Vec::new());
        for location in all.iter().map(LocationId) {
            match memory.moved(location, Way::Arrival) {
                Some(arrival) => arrivals.push(arrival.0),
                None => pointers.push(location.0),
            }
        }
        arrivals.sort_unstable();
        let parts = VarSets {
            points_to: self.of(pointers.into_iter().collect()),
            leads_to: self.of(arrivals.into_iter().collect()),
        };
        self.parted.insert(set, parts);
        parts
    }
}
