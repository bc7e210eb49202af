//! Inclusion-based solving: dereferences, copies and indirect calls add edges to the constraint graph.
//!
//! Pointers with the same set share the work. All loads of one width and offset through one set use one node, and the
//! slots of the set's objects flow into it. Stores do likewise. So the edges of a set that thousands of pointers have
//! are added once.

mod generate;

use super::graph::{Graph, NodeId};
use super::instances::{InstanceId, Instances};
use super::memory::{LocationId, Memory, ObjectId, ObjectKind, Slot, SlotLookup, SlotNodes};
use super::sets::SetId;
use super::terms::{LeafTransform, Shift, Terms, VarFacts, gcd};
use super::{Numbers, Options, Solution};
use crate::sparse_set::SparseSet;
use cfa::{CType, EdgeId, Expr, ExprId, FuncId, FunctionOrigin, Id, Op, Program, Var, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Instant;

/// A use of the pointers of a node.
#[derive(Clone, Copy, Debug)]
pub enum Use {
    /// A load of `width` bytes at the pointers plus `shift`.
    Load {
        /// The offset from the pointers.
        shift: Shift,
        /// The number of bytes.
        width: u32,
        /// True for a number that a library function reads. Variable arguments that it reads as numbers are no
        /// pointers.
        is_number: bool,
        /// The node of the loaded value.
        to: NodeId,
    },
    /// A store of `width` bytes at the pointers plus `shift`.
    Store {
        /// The offset from the pointers.
        shift: Shift,
        /// The number of bytes.
        width: u32,
        /// The node of the stored value.
        from: NodeId,
    },
    /// A copy from the pointers into a temporary object.
    CopyFrom {
        /// The offset from the pointers.
        shift: Shift,
        /// The number of bytes, if known.
        len: Option<u32>,
        /// The temporary object.
        buffer: ObjectId,
    },
    /// A copy from a temporary object to the pointers.
    CopyTo {
        /// The offset from the pointers.
        shift: Shift,
        /// The number of bytes, if known.
        len: Option<u32>,
        /// The temporary object.
        buffer: ObjectId,
    },
    /// A comparison with another value: if one comes from the environment, the other is exposed.
    Compare {
        /// The other value.
        with: NodeId,
    },
    /// An indirect call.
    Call {
        /// The call.
        edge: EdgeId,
        /// The instance of the caller.
        instance: InstanceId,
    },
    /// A call by an undefined function of any function among the pointers.
    CallBack,
    /// A pointer in this slot flows along the route. Only the first pointer matters.
    Carry {
        /// The index of the route.
        route: u32,
        /// The slot of the route's source.
        slot: Slot,
    },
}

/// A copy of the slots of `source` between `from` and `from + len` to `object`, at `to`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Route {
    source: ObjectId,
    from: Shift,
    len: Option<u32>,
    object: ObjectId,
    to: Shift,
}

/// The maximal number of copies with different offsets between two objects. Further copies ignore offsets.
const MANY_ROUTES: u32 = 4;
/// Copies through sets with more locations ignore offsets.
const MANY_PLACES: usize = 32;
/// Dereferences of sets with at most this many locations add edges directly.
const FEW_PLACES: usize = 2;

/// The state of the inclusion-based solver.
pub struct Solver<'p> {
    /// The program.
    program: &'p Program,
    /// The terms of its expressions.
    terms: Terms<'p>,
    /// The abstract memory.
    memory: Memory,
    /// The constraint graph.
    graph: Graph<Use>,
    /// The instances of functions in contexts.
    instances: Instances,
    /// The shared nodes of loads and stores, by set, shift and width.
    loads: FxHashMap<(SetId, Shift, u32, bool), NodeId>,
    stores: FxHashMap<(SetId, Shift, u32), NodeId>,
    routes: Vec<Route>,
    /// The number of routes from one object to another.
    route_counts: FxHashMap<(ObjectId, ObjectId), u32>,
    known_routes: FxHashSet<Route>,
    routes_from: FxHashMap<ObjectId, Vec<u32>>,
    universe: bool,
    /// The edges of each function.
    bodies: Vec<Vec<EdgeId>>,
    /// By function, true if it is called in some context.
    reached: Vec<bool>,
    /// By function, true if its operations are added without a context or wait for this.
    queued: Vec<bool>,
    /// The functions whose operations have to be added without a context.
    to_reach: Vec<FuncId>,
    /// The functions whose addresses occur in the program.
    address_taken: Vec<FuncId>,
    /// The targets of indirect calls that have been added.
    known_calls: FxHashSet<(EdgeId, InstanceId, FuncId)>,
    /// The allocations of blocks of variable arguments.
    blocks: FxHashSet<EdgeId>,
    /// The behaviour of undefined functions.
    undefined: super::Undefined,
    /// The nodes of the pointers that undefined functions are given and of those that they have, if they exist.
    external: Option<(NodeId, NodeId)>,
    /// The node of the exposed addresses. `None` if the environment knows all addresses.
    exposed: Option<NodeId>,
    /// The number of waves so far.
    waves: u32,
    deadline: Option<Instant>,
    budget: u64,
}

impl<'p> Solver<'p> {
    /// A solver without constraints.
    pub fn new(program: &'p Program, options: &Options) -> Self {
        let bodies = bodies(program);
        let mut graph = Graph::new();
        // Variables first, then the results of functions.
        for _ in 0..program.vars.len() + program.funcs.len() {
            graph.fresh_node();
        }
        let exposed = options.exposure.then(|| graph.fresh_node());
        Self {
            program,
            terms: Terms::new(&program.exprs, program.layout.pointer_width, facts_of_vars(program)),
            memory: Memory::new(program, !options.fields),
            graph,
            instances: Instances::new(program, &bodies, options.heap_contexts),
            loads: FxHashMap::default(),
            stores: FxHashMap::default(),
            routes: Vec::new(),
            route_counts: FxHashMap::default(),
            known_routes: FxHashSet::default(),
            routes_from: FxHashMap::default(),
            universe: false,
            bodies,
            reached: vec![false; program.funcs.len()],
            queued: vec![false; program.funcs.len()],
            to_reach: Vec::new(),
            address_taken: address_taken(program),
            known_calls: FxHashSet::default(),
            blocks: blocks(program),
            undefined: options.undefined,
            external: None,
            exposed,
            waves: 0,
            deadline: options.deadline,
            budget: options.budget,
        }
    }

    /// Solves all constraints. Returns false if the deadline or the budget was exceeded.
    pub fn solve(&mut self) -> bool {
        self.globals();
        self.reach(self.program.entry);
        loop {
            while let Some(f) = self.to_reach.pop() {
                self.body(f, InstanceId::BASE);
            }
            self.collapse_objects();
            let grew = self.graph.propagate(&mut self.memory);
            for node in self.graph.unused() {
                for (what, pointers) in self.graph.take_uses(node) {
                    self.apply(what, pointers, node);
                }
                if self.spent() {
                    return false;
                }
            }
            self.waves += 1;
            if !grew && !self.graph.pending && self.to_reach.is_empty() {
                debug_assert!(self.graph.is_solved());
                return true;
            }
            if self.spent() {
                return false;
            }
        }
    }

    fn spent(&self) -> bool {
        self.graph.sets.work > self.budget || self.deadline.is_some_and(|d| Instant::now() > d)
    }

    /// Applies a use to pointers that belong to one node.
    fn apply(&mut self, what: Use, pointers: SetId, node: NodeId) {
        match what {
            Use::Load { shift, width, is_number, to } => self.load(pointers, shift, width, is_number, to),
            Use::Store { shift, width, from } => self.store(pointers, shift, width, from),
            Use::Carry { route, slot } => self.carry(route, slot),
            Use::CopyFrom { buffer, .. } if self.is_large(node) => {
                let whole = self.slot(buffer, Shift::ANY, 1).expect("a buffer has no bounds");
                self.load(pointers, Shift::ANY, 1, false, whole.written);
            }
            Use::CopyTo { buffer, .. } if self.is_large(node) => {
                let whole = self.slot(buffer, Shift::ANY, 1).expect("a buffer has no bounds");
                self.store(pointers, Shift::ANY, 1, whole.read);
            }
            Use::CopyFrom { .. } | Use::CopyTo { .. } | Use::Compare { .. } | Use::Call { .. } | Use::CallBack => {
                for location in self.graph.sets.get(pointers).clone().iter() {
                    self.apply_to(what, LocationId(location));
                }
            }
        }
    }

    /// Applies a use to one pointer.
    pub fn apply_to(&mut self, what: Use, location: LocationId) {
        let place = self.memory.locations[location];
        let kind = self.memory.objects[place.object].kind;
        match what {
            Use::Call { edge, instance } => match kind {
                ObjectKind::Func(f) => self.call_indirect(edge, instance, f),
                ObjectKind::Unknown => {
                    for f in self.address_taken.clone() {
                        self.call_indirect(edge, instance, f);
                    }
                }
                _ => {}
            },
            Use::CallBack => match kind {
                ObjectKind::Func(f) => self.call_back(f),
                ObjectKind::Unknown => self.address_taken.clone().into_iter().for_each(|f| self.call_back(f)),
                _ => {}
            },
            Use::Compare { with } => {
                if let (ObjectKind::Outside, Some(exposed)) = (kind, self.exposed) {
                    self.graph.add_shifted(with, exposed, LeafTransform::Exposure);
                }
            }
            _ if !self.memory.has_bytes(place.object) => {}
            Use::Load { shift, width, is_number, to } => {
                if let Some(nodes) = self.slot(place.object, place.at.then(shift), width) {
                    match is_number && self.is_block(place.object) {
                        true => self.graph.add_shifted(nodes.read, to, LeafTransform::Number),
                        false => self.graph.add_edge(nodes.read, to),
                    }
                }
            }
            Use::Store { shift, width, from } => {
                if let Some(nodes) = self.slot(place.object, place.at.then(shift), width) {
                    self.graph.add_edge(from, nodes.written);
                }
            }
            Use::CopyFrom { shift, len, buffer } => {
                let from = place.at.then(shift);
                self.add_route(Route { source: place.object, from, len, object: buffer, to: Shift::ZERO });
            }
            Use::CopyTo { shift, len, buffer } => {
                let to = place.at.then(shift);
                self.add_route(Route { source: buffer, from: Shift::ZERO, len, object: place.object, to });
            }
            Use::Carry { .. } => unreachable!("not of a pointer"),
        }
    }

    /// True for the variable arguments of a call.
    fn is_block(&self, object: ObjectId) -> bool {
        matches!(self.memory.objects[object].kind, ObjectKind::Alloc(edge) if self.blocks.contains(&edge))
    }
    fn is_large(&self, node: NodeId) -> bool {
        let set = self.graph.points_to(node);
        self.graph.sets.get(set).has_more_than(MANY_PLACES)
    }

    fn load(&mut self, pointers: SetId, shift: Shift, width: u32, is_number: bool, to: NodeId) {
        let locations = self.graph.sets.get(pointers).clone();
        if !locations.has_more_than(FEW_PLACES) {
            return locations
                .iter()
                .for_each(|l| self.apply_to(Use::Load { shift, width, is_number, to }, LocationId(l)));
        }
        let shared = match self.loads.get(&(pointers, shift, width, is_number)) {
            Some(&node) => node,
            None => {
                let node = self.graph.fresh_node();
                self.loads.insert((pointers, shift, width, is_number), node);
                let slots = self.slots(&locations, shift, width, is_number, |nodes| nodes.read);
                slots.into_iter().for_each(|slot| self.graph.add_edge(slot, node));
                if is_number {
                    let is_block = |l: &LocationId| self.is_block(self.memory.locations[*l].object);
                    let blocks: Vec<LocationId> = locations.iter().map(LocationId).filter(is_block).collect();
                    let load = Use::Load { shift, width, is_number, to: node };
                    blocks.into_iter().for_each(|block| self.apply_to(load, block));
                }
                node
            }
        };
        self.graph.add_edge(shared, to);
    }
    fn store(&mut self, pointers: SetId, shift: Shift, width: u32, from: NodeId) {
        let locations = self.graph.sets.get(pointers).clone();
        if !locations.has_more_than(FEW_PLACES) {
            return locations.iter().for_each(|l| self.apply_to(Use::Store { shift, width, from }, LocationId(l)));
        }
        let shared = match self.stores.get(&(pointers, shift, width)) {
            Some(&node) => node,
            None => {
                let node = self.graph.fresh_node();
                self.stores.insert((pointers, shift, width), node);
                let slots = self.slots(&locations, shift, width, false, |nodes| nodes.written);
                slots.into_iter().for_each(|slot| self.graph.add_edge(node, slot));
                node
            }
        };
        self.graph.add_edge(from, shared);
    }
    /// The nodes of the slots that an access through these pointers touches. A collapsed object has one slot.
    fn slots(
        &mut self,
        locations: &SparseSet,
        shift: Shift,
        width: u32,
        is_number: bool,
        which: impl Fn(SlotNodes) -> NodeId,
    ) -> Vec<NodeId> {
        let mut found = Vec::new();
        for location in locations.iter() {
            let place = self.memory.locations[LocationId(location)];
            if self.memory.has_bytes(place.object)
                && !(is_number && self.is_block(place.object))
                && let Some(nodes) = self.slot(place.object, place.at.then(shift), width)
            {
                found.push(self.graph.find(which(nodes)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    // Memory.

    /// The nodes of a slot, created on demand; `None` if it lies outside the object.
    pub fn slot(&mut self, object: ObjectId, at: Shift, width: u32) -> Option<SlotNodes> {
        if object == self.memory.unknown {
            self.link_universe();
        }
        self.graph.sets.work += 1;
        let graph = &mut self.graph;
        let make = || SlotNodes { written: graph.fresh_node(), read: graph.fresh_node() };
        match self.memory.slot(object, at, width, make) {
            SlotLookup::Known(nodes) => Some(nodes),
            SlotLookup::Outside => None,
            SlotLookup::Made(nodes, slot, overlapping) => {
                self.graph.add_edge(nodes.written, nodes.read);
                for other in overlapping {
                    self.graph.add_edge(nodes.written, other.read);
                    self.graph.add_edge(other.written, nodes.read);
                }
                for i in 0..self.routes_from.get(&object).map_or(0, Vec::len) {
                    let route = self.routes_from[&object][i];
                    self.graph.add_use(nodes.read, Use::Carry { route, slot });
                }
                Some(nodes)
            }
        }
    }

    /// Merges the slots of each object with too many locations or slots. The object keeps one slot and gets one more
    /// location.
    fn collapse_objects(&mut self) {
        for object in self.memory.take_crowded() {
            let slots: Vec<SlotNodes> = self.memory.objects[object].slots.iter().map(|s| s.1).collect();
            if let Some(first) = slots.first() {
                for other in &slots {
                    self.graph.merge(first.written, other.written);
                    self.graph.merge(first.written, other.read);
                }
            }
            self.memory.collapse(object, slots.first().map(|f| f.written));
            for route in self.routes_from.remove(&object).unwrap_or_default() {
                self.add_route(self.routes[route as usize]);
            }
        }
    }

    /// Connects the unknown object with all objects: the environment may point to any of them.
    fn link_universe(&mut self) {
        if std::mem::replace(&mut self.universe, true) {
            return;
        }
        let unknown = self.slot(self.memory.unknown, Shift::ANY, 1).expect("no bounds");
        let location = self.memory.location(self.memory.unknown, Shift::ANY);
        self.graph.add_location(unknown.written, location);
        for object in self.memory.objects.ids() {
            self.link_to_universe(object);
        }
    }
    /// Connects an object with the unknown object, if that is in use.
    pub fn link_to_universe(&mut self, object: ObjectId) {
        if self.universe && matches!(self.memory.objects[object].kind, ObjectKind::Global(_) | ObjectKind::Alloc(_)) {
            let unknown = self.slot(self.memory.unknown, Shift::ANY, 1).expect("no bounds");
            if let Some(nodes) = self.slot(object, Shift::ANY, 1) {
                self.graph.add_edge(unknown.written, nodes.written);
                self.graph.add_edge(nodes.read, unknown.read);
            }
        }
    }

    // Copies: the slots of objects flow along routes.

    fn add_route(&mut self, mut route: Route) {
        let count = self.route_counts.entry((route.source, route.object)).or_insert(0);
        if self.memory.is_whole(route.source) || *count >= MANY_ROUTES {
            route = Route { from: Shift::ANY, len: None, to: Shift::ANY, ..route };
        } else if self.memory.is_whole(route.object) {
            route.to = Shift::ANY;
        }
        if !self.known_routes.insert(route) {
            return;
        }
        *count += 1;
        let object = route.source;
        if object == self.memory.unknown {
            self.link_universe();
        }
        let id = self.routes.len() as u32;
        self.routes.push(route);
        self.routes_from.entry(object).or_default().push(id);
        let slots: Vec<_> = self.memory.objects[object].slots.iter().collect();
        for (slot, nodes) in slots {
            self.graph.add_use(nodes.read, Use::Carry { route: id, slot });
        }
    }

    fn carry(&mut self, route: u32, slot: Slot) {
        let Route { source, from, len, object, to } = self.routes[route as usize];
        let distance = slot.at.off - from.off;
        let at = match gcd(slot.at.stride, from.stride) {
            0 => {
                let inside = distance + i64::from(slot.width) > 0 && len.is_none_or(|len| distance < i64::from(len));
                if !inside {
                    return;
                }
                to.then(Shift::new(distance, 0))
            }
            stride => {
                let distance = distance.rem_euclid(i64::from(stride));
                match len {
                    // At most one element: its offset in the copy is known.
                    Some(len) if len <= stride => {
                        if distance >= i64::from(len) && distance + i64::from(slot.width) <= i64::from(stride) {
                            return;
                        }
                        to.then(Shift::new(distance, 0))
                    }
                    _ => to.then(Shift::new(distance, stride)),
                }
            }
        };
        // An object that lost its fields has no such slot any more. Its single slot has a route of its own.
        let source = self.memory.objects[source].slots.find(&slot);
        if let (Some(source), Some(target)) = (source, self.slot(object, at, slot.width)) {
            self.graph.add_edge(source.read, target.written);
        }
    }

    /// The points-to sets.
    pub fn solution(mut self) -> Solution<'p> {
        let program = self.program;
        let mut numbers = Numbers { distinct: Vec::new(), known: FxHashMap::default(), parted: FxHashMap::default() };
        numbers.number(SparseSet::new());
        let mut sets = Vec::with_capacity(program.vars.len());
        for v in program.vars.ids() {
            let mut found: Vec<_> = self.instances.nodes(program, v).map(|n| self.graph.points_to(n)).collect();
            let set = self.graph.sets.union_all(SetId::EMPTY, &mut found);
            sets.push(numbers.parted(&self.graph.sets, &mut self.memory, set));
        }
        let external = self.external.map_or(SetId::EMPTY, |(_, n)| self.graph.points_to(n));
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

/// The allocations of the variable arguments of calls.
fn blocks(program: &Program) -> FxHashSet<EdgeId> {
    let block = |op: &Op| match op {
        Op::Call { varargs: Some(block), .. } => match program.exprs.get(*block) {
            Expr::Var(var) => Some(*var),
            _ => None,
        },
        _ => None,
    };
    let vars: FxHashSet<VarId> = program.edges.values().filter_map(|edge| block(&edge.op)).collect();
    let is_block = |op: &Op| matches!(op, Op::Alloc { var, .. } if vars.contains(var));
    program.edges.iter().filter(|(_, edge)| is_block(&edge.op)).map(|(id, _)| id).collect()
}

/// The edges of each function.
pub fn bodies(program: &Program) -> Vec<Vec<EdgeId>> {
    let mut bodies = vec![Vec::new(); program.funcs.len()];
    for id in program.edges.ids() {
        bodies[program.func_of(id).index()].push(id);
    }
    bodies
}

/// The facts of each variable.
pub fn facts_of_vars(program: &Program) -> Vec<VarFacts> {
    let is_model = |func| program.funcs[func].origin == FunctionOrigin::Model;
    let facts = |var: &Var| VarFacts {
        is_pointer: matches!(program.plain_type(var.ty), CType::Pointer(_)),
        is_of_model: var.func().is_some_and(is_model),
    };
    program.vars.values().map(facts).collect()
}

/// The functions whose addresses occur in expressions, in the order of their ids.
pub fn address_taken(program: &Program) -> Vec<FuncId> {
    let mut taken: Vec<FuncId> = (0..program.exprs.len())
        .filter_map(|e| match program.exprs.get(ExprId(e as u32)) {
            Expr::FuncAddr(f) => Some(*f),
            _ => None,
        })
        .collect();
    taken.sort_unstable();
    taken.dedup();
    taken
}
