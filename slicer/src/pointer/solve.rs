//! Inclusion-based solving: what dereferences, copies and calls through pointers add to the constraint graph.
//!
//! Pointers with the same set share the work: all loads of one width and offset through one set go
//! through one node, which the slots of the set's objects flow into; stores likewise. So the edges for a set that
//! thousands of pointers have are made once.

use super::Options;
use super::generate::{InstanceId, Instances};
use super::graph::{Graph, NodeId};
use super::memory::{LocationId, Memory, ObjectId, ObjectKind, Slot, SlotLookup, SlotNodes};
use super::sets::SetId;
use super::terms::{Shift, Terms, gcd};
use crate::sparse_set::SparseSet;
use cfa::{CType, EdgeId, Expr, ExprId, FuncId, Id, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Instant;

/// What is done with the pointers of a node.
#[derive(Clone, Copy, Debug)]
pub enum Use {
    Load {
        shift: Shift,
        width: u32,
        to: NodeId,
    },
    Store {
        shift: Shift,
        width: u32,
        from: NodeId,
    },
    CopyFrom {
        shift: Shift,
        len: Option<u32>,
        buffer: ObjectId,
    },
    CopyTo {
        shift: Shift,
        len: Option<u32>,
        buffer: ObjectId,
    },
    Call {
        edge: EdgeId,
        instance: InstanceId,
    },
    /// The functions among them may be called by code that is not there.
    CallBack,
    /// The first pointer that appears in this slot takes the route.
    Carry {
        route: u32,
        slot: Slot,
    },
}

/// The slots of an object between `from` and `from + len` are copied to another object.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Route {
    source: ObjectId,
    from: Shift,
    len: Option<u32>,
    object: ObjectId,
    to: Shift,
}

/// Beyond so many copies between different offsets of two objects, offsets are not told apart.
const MANY_ROUTES: u32 = 4;
/// Copies between more places than this do not tell offsets apart.
const MANY_PLACES: usize = 32;
/// Dereferences of no more places than this get their edges directly.
const FEW_PLACES: usize = 2;

pub struct Solver<'p> {
    pub program: &'p Program,
    pub terms: Terms<'p>,
    pub memory: Memory,
    pub graph: Graph<Use>,
    pub instances: Instances,
    /// What loads and stores through a set of pointers have in common.
    loads: FxHashMap<(SetId, Shift, u32), NodeId>,
    stores: FxHashMap<(SetId, Shift, u32), NodeId>,
    routes: Vec<Route>,
    /// From one object to another.
    route_counts: FxHashMap<(ObjectId, ObjectId), u32>,
    known_routes: FxHashSet<Route>,
    routes_from: FxHashMap<ObjectId, Vec<u32>>,
    universe: bool,
    pub bodies: Vec<Vec<EdgeId>>,
    /// The functions that are called, and those whose operations are or will be added without a context.
    pub reached: Vec<bool>,
    pub queued: Vec<bool>,
    pub to_reach: Vec<FuncId>,
    /// The functions whose address occurs in the program.
    pub address_taken: Vec<FuncId>,
    pub known_calls: FxHashSet<(EdgeId, InstanceId, FuncId)>,
    pub undefined: super::Undefined,
    /// Holds whatever has been passed to functions that nobody defines.
    pub external: Option<NodeId>,
    pub waves: u32,
    deadline: Option<Instant>,
    budget: u64,
}

impl<'p> Solver<'p> {
    pub fn new(program: &'p Program, options: &Options) -> Self {
        let bodies = bodies(program);
        let mut graph = Graph::new();
        // Variables and then the results of functions.
        for _ in 0..program.vars.len() + program.funcs.len() {
            graph.fresh_node();
        }
        Self {
            program,
            terms: Terms::new(&program.exprs, program.layout.pointer_width, declared_pointers(program)),
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
            undefined: options.undefined,
            external: None,
            waves: 0,
            deadline: options.deadline,
            budget: options.budget,
        }
    }

    /// Returns whether there was time and room enough.
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

    /// What is done with some pointers, all of one node.
    fn apply(&mut self, what: Use, pointers: SetId, node: NodeId) {
        match what {
            Use::Load { shift, width, to } => self.load(pointers, shift, width, to),
            Use::Store { shift, width, from } => self.store(pointers, shift, width, from),
            Use::Carry { route, slot } => self.carry(route, slot),
            Use::CopyFrom { buffer, .. } if self.is_large(node) => {
                let whole = self.slot(buffer, Shift::ANY, 1).expect("a buffer has no bounds");
                self.load(pointers, Shift::ANY, 1, whole.written);
            }
            Use::CopyTo { buffer, .. } if self.is_large(node) => {
                let whole = self.slot(buffer, Shift::ANY, 1).expect("a buffer has no bounds");
                self.store(pointers, Shift::ANY, 1, whole.read);
            }
            Use::CopyFrom { .. } | Use::CopyTo { .. } | Use::Call { .. } | Use::CallBack => {
                for location in self.graph.sets.get(pointers).clone().iter() {
                    self.apply_to(what, LocationId(location));
                }
            }
        }
    }

    /// What is done with one pointer.
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
            _ if !self.memory.has_bytes(place.object) => {}
            Use::Load { shift, width, to } => {
                if let Some(nodes) = self.slot(place.object, place.at.then(shift), width) {
                    self.graph.add_edge(nodes.read, to);
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

    fn is_large(&self, node: NodeId) -> bool {
        let set = self.graph.points_to(node);
        self.graph.sets.get(set).has_more_than(MANY_PLACES)
    }

    fn load(&mut self, pointers: SetId, shift: Shift, width: u32, to: NodeId) {
        let locations = self.graph.sets.get(pointers).clone();
        if !locations.has_more_than(FEW_PLACES) {
            return locations.iter().for_each(|l| self.apply_to(Use::Load { shift, width, to }, LocationId(l)));
        }
        let shared = match self.loads.get(&(pointers, shift, width)) {
            Some(&node) => node,
            None => {
                let node = self.graph.fresh_node();
                self.loads.insert((pointers, shift, width), node);
                let slots = self.slots(&locations, shift, width, |nodes| nodes.read);
                slots.into_iter().for_each(|slot| self.graph.add_edge(slot, node));
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
                let slots = self.slots(&locations, shift, width, |nodes| nodes.written);
                slots.into_iter().for_each(|slot| self.graph.add_edge(node, slot));
                node
            }
        };
        self.graph.add_edge(from, shared);
    }
    /// The slots that an access through these pointers touches; those that have become one only once.
    fn slots(
        &mut self,
        locations: &SparseSet,
        shift: Shift,
        width: u32,
        which: impl Fn(SlotNodes) -> NodeId,
    ) -> Vec<NodeId> {
        let mut found = Vec::new();
        for location in locations.iter() {
            let place = self.memory.locations[LocationId(location)];
            if self.memory.has_bytes(place.object)
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

    /// The nodes of a slot; `None` if it lies outside the object.
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

    /// Objects with too many locations or slots lose their fields: one slot, and no new locations but one.
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

    /// Whatever the environment may point to may be any object.
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
    pub fn link_to_universe(&mut self, object: ObjectId) {
        if self.universe && matches!(self.memory.objects[object].kind, ObjectKind::Global(_) | ObjectKind::Alloc(_)) {
            let unknown = self.slot(self.memory.unknown, Shift::ANY, 1).expect("no bounds");
            if let Some(nodes) = self.slot(object, Shift::ANY, 1) {
                self.graph.add_edge(unknown.written, nodes.written);
                self.graph.add_edge(nodes.read, unknown.read);
            }
        }
    }

    // Copies: the slots of objects follow routes.

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
                    // One element: its offset in the copy is known.
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
        // A slot of an object that has lost its fields since went another way.
        let source = self.memory.objects[source].slots.find(&slot);
        if let (Some(source), Some(target)) = (source, self.slot(object, at, slot.width)) {
            self.graph.add_edge(source.read, target.written);
        }
    }
}

/// The edges of each function.
pub fn bodies(program: &Program) -> Vec<Vec<EdgeId>> {
    let mut bodies = vec![Vec::new(); program.funcs.len()];
    for id in program.edges.ids() {
        bodies[program.func_of(id).index()].push(id);
    }
    bodies
}

/// Of each variable whether C declares it a pointer.
pub fn declared_pointers(program: &Program) -> Vec<bool> {
    program.vars.values().map(|v| matches!(program.plain_type(v.ty), CType::Pointer(_))).collect()
}

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
