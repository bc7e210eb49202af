//! The constraint graph and its solution, by waves.
//!
//! Nodes are variables, results of functions, slots of objects and values of expressions; each has the set of
//! locations it may point to. Edges are inclusions, plain or with a shift. Loads, stores, copies and indirect
//! calls are constraints on the node that holds their address; they add edges as locations arrive there.
//!
//! A wave (Pereira, Berlin: *Wave propagation and deep propagation for pointer analysis*, CGO 2009) merges the
//! cycles of plain edges, propagates what is new in topological order and then handles the constraints. A
//! cycle of shifts that do not cancel, `p = p + 16`, would count up for ever (Pearce, Kelly, Hankin: *Efficient
//! field-sensitive pointer analysis of C*, 2007): its edges get the cycle's stride. Bodies of functions are
//! added when a call first reaches them.

use super::memory::{LocationId, Memory, ObjectId, ObjectKind, Slot, SlotLookup, SlotNodes};
use super::terms::{Base, Shift, Term, Terms, gcd};
use super::{Mode, Options};
use crate::graph::Components;
use crate::sparse_set::SparseSet;
use cfa::{CType, Callee, EdgeId, Expr, ExprId, FuncId, Id, InputKind, Op, Program, TypeId, VarId, VarKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Instant;

/// What arrives at a node has consequences.
#[derive(Clone, Copy, Debug)]
enum Constraint {
    Load {
        shift: Shift,
        width: u32,
        to: u32,
    },
    Store {
        shift: Shift,
        width: u32,
        from: u32,
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
    },
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

/// A solution larger than this (in blocks of sets) is not worth its precision.
const MOST_BLOCKS: usize = 500_000;

/// Beyond so many copies between different offsets of two objects, offsets are not told apart.
const MANY_ROUTES: u32 = 4;

#[derive(Default)]
struct Node {
    all: SparseSet,
    /// Of `all`, what has not been propagated along the edges.
    new: SparseSet,
    /// Of `all`, what the constraints have not seen.
    pending: SparseSet,
    plain: Vec<u32>,
    shifted: Vec<(u32, Shift)>,
    /// The constraints that have seen everything that is not pending, and those that have seen nothing yet.
    seen: Vec<Constraint>,
    unseen: Vec<Constraint>,
    dirty: bool,
}

impl Node {
    fn add_seen(&mut self, mut constraints: Vec<Constraint>) {
        if constraints.len() > self.seen.len() {
            std::mem::swap(&mut constraints, &mut self.seen);
        }
        self.seen.append(&mut constraints);
    }
    fn has_constraints(&self) -> bool {
        !self.seen.is_empty() || !self.unseen.is_empty()
    }
}

pub struct Solver<'p> {
    program: &'p Program,
    unify: bool,
    pub terms: Terms<'p>,
    pub memory: Memory,
    parent: Vec<u32>,
    nodes: Vec<Node>,
    edges: FxHashSet<(u32, u32)>,
    shifted_edges: FxHashSet<(u32, u32, Shift)>,
    values: FxHashMap<ExprId, Option<u32>>,
    routes: Vec<Route>,
    /// From one object to another.
    route_counts: FxHashMap<(ObjectId, ObjectId), u32>,
    known_routes: FxHashSet<Route>,
    routes_from: FxHashMap<ObjectId, Vec<u32>>,
    /// Nodes whose constraints have work.
    dirty: Vec<u32>,
    /// Edges were added since the last cycles were merged.
    changed: bool,
    /// The nodes in topological order, as of when there were `ordered` nodes.
    order: Vec<u32>,
    ordered: usize,
    universe: bool,
    bodies: Vec<Vec<EdgeId>>,
    pub reached: Vec<bool>,
    to_reach: Vec<FuncId>,
    /// The functions whose address occurs in the program.
    address_taken: Vec<FuncId>,
    /// Callees of indirect calls.
    pub indirect: FxHashMap<EdgeId, Vec<FuncId>>,
    pub waves: u32,
    deadline: Option<Instant>,
    ticks: u32,
    timed_out: bool,
}

impl<'p> Solver<'p> {
    pub fn new(program: &'p Program, options: &Options) -> Self {
        let unify = options.mode == Mode::Unification;
        let mut bodies = vec![Vec::new(); program.funcs.len()];
        for id in program.edges.ids() {
            bodies[program.func_of(id).index()].push(id);
        }
        let is_pointer = |ty| matches!(program.plain_type(ty), CType::Pointer(_));
        let pointers = program.vars.values().map(|v| is_pointer(v.ty)).collect();
        let mut solver = Self {
            program,
            unify,
            terms: Terms::new(&program.exprs, program.layout.pointer_width, pointers),
            memory: Memory::new(program, unify),
            parent: Vec::new(),
            nodes: Vec::new(),
            edges: FxHashSet::default(),
            shifted_edges: FxHashSet::default(),
            values: FxHashMap::default(),
            routes: Vec::new(),
            route_counts: FxHashMap::default(),
            known_routes: FxHashSet::default(),
            routes_from: FxHashMap::default(),
            order: Vec::new(),
            ordered: 0,
            dirty: Vec::new(),
            changed: false,
            universe: false,
            bodies,
            reached: vec![false; program.funcs.len()],
            to_reach: Vec::new(),
            address_taken: address_taken(program),
            indirect: FxHashMap::default(),
            waves: 0,
            deadline: options.deadline,
            ticks: 0,
            timed_out: false,
        };
        for _ in 0..program.vars.len() + program.funcs.len() {
            solver.fresh_node();
        }
        solver
    }

    /// Whether the deadline has passed; looked at now and then.
    fn out_of_time(&mut self) -> bool {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(1024) && self.deadline.is_some_and(|d| Instant::now() > d) {
            self.timed_out = true;
        }
        self.timed_out
    }

    /// Returns whether there was time and room enough.
    pub fn solve(&mut self) -> bool {
        self.globals();
        self.reach(self.program.entry);
        loop {
            while let Some(f) = self.to_reach.pop() {
                for edge in std::mem::take(&mut self.bodies[f.index()]) {
                    self.operation(edge);
                }
            }
            self.collapse_objects();
            self.merge_cycles();
            self.propagate();
            let quiet = self.dirty.is_empty();
            self.constraints();
            self.waves += 1;
            if quiet && self.to_reach.is_empty() && self.nodes.iter().all(|n| n.new.is_empty()) {
                return true;
            }
            let size = self.nodes.iter().map(|n| n.all.block_count()).sum::<usize>();
            if self.timed_out || !self.unify && size > MOST_BLOCKS {
                return false;
            }
        }
    }

    // Nodes.

    fn fresh_node(&mut self) -> u32 {
        let id = self.nodes.len() as u32;
        self.parent.push(id);
        self.nodes.push(Node::default());
        id
    }
    pub fn find(&self, mut node: u32) -> u32 {
        while self.parent[node as usize] != node {
            node = self.parent[node as usize];
        }
        node
    }
    fn find_shorten(&mut self, node: u32) -> u32 {
        let root = self.find(node);
        let mut at = node;
        while at != root {
            at = std::mem::replace(&mut self.parent[at as usize], root);
        }
        root
    }
    pub fn var_node(&self, var: VarId) -> u32 {
        var.0
    }
    pub fn result_node(&self, func: FuncId) -> u32 {
        self.program.vars.len() as u32 + func.0
    }
    pub fn program(&self) -> &'p Program {
        self.program
    }
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }
    pub fn points_to(&self, node: u32) -> &SparseSet {
        &self.nodes[self.find(node) as usize].all
    }

    // Adding to the graph.

    fn add_location(&mut self, node: u32, location: LocationId) {
        let n = self.find_shorten(node) as usize;
        if self.nodes[n].all.insert(location.0) {
            self.nodes[n].new.insert(location.0);
        }
    }
    fn add_edge(&mut self, from: u32, to: u32) {
        let (from, to) = (self.find_shorten(from), self.find_shorten(to));
        if from == to {
            return;
        }
        if self.unify {
            self.merge(from, to);
        } else if self.edges.insert((from, to)) {
            self.changed = true;
            self.nodes[from as usize].plain.push(to);
            self.flow(from as usize, to as usize);
        }
    }
    fn flow(&mut self, from: usize, to: usize) {
        let [source, target] = self.nodes.get_disjoint_mut([from, to]).expect("distinct nodes");
        target.all.union_fresh(&source.all, &mut target.new);
    }
    fn add_shifted(&mut self, from: u32, to: u32, shift: Shift) {
        if shift == Shift::ZERO || self.unify {
            return self.add_edge(from, to);
        }
        let (from, to) = (self.find_shorten(from), self.find_shorten(to));
        if self.shifted_edges.insert((from, to, shift)) {
            self.changed = true;
            self.nodes[from as usize].shifted.push((to, shift));
            let all = self.nodes[from as usize].all.clone();
            self.flow_shifted(&all, to, shift);
        }
    }
    fn flow_shifted(&mut self, locations: &SparseSet, to: u32, shift: Shift) {
        let to = self.find_shorten(to) as usize;
        for l in locations.iter() {
            let l = self.memory.shifted(LocationId(l), shift);
            if self.nodes[to].all.insert(l.0) {
                self.nodes[to].new.insert(l.0);
            }
        }
    }
    fn add_constraint(&mut self, node: u32, constraint: Constraint) {
        let n = self.find_shorten(node);
        self.nodes[n as usize].unseen.push(constraint);
        self.soil(n);
    }
    fn soil(&mut self, node: u32) {
        if !self.nodes[node as usize].dirty {
            self.nodes[node as usize].dirty = true;
            self.dirty.push(node);
        }
    }

    // The program's constraints.

    fn location_of(&mut self, term: Term) -> LocationId {
        let object = match term.base {
            Base::Global(g) => self.memory.global(g),
            Base::Func(f) => self.memory.func(f),
            Base::Var(_) => unreachable!("a variable has no address"),
        };
        self.memory.location(object, term.shift)
    }
    /// The value of an expression flows into a node.
    fn assign(&mut self, e: ExprId, to: u32) {
        for term in self.terms.of(e).to_vec() {
            match term.base {
                Base::Var(v) => self.add_shifted(v.0, to, term.shift),
                _ => {
                    let location = self.location_of(term);
                    self.add_location(to, location);
                }
            }
        }
    }
    /// A node for the value of an expression; none if it carries no pointers.
    fn value(&mut self, e: ExprId) -> Option<u32> {
        if let Some(&known) = self.values.get(&e) {
            return known;
        }
        let node = match *self.terms.of(e) {
            [] => None,
            [Term { base: Base::Var(v), shift: Shift::ZERO }] => Some(v.0),
            _ => {
                let node = self.fresh_node();
                self.assign(e, node);
                Some(node)
            }
        };
        self.values.insert(e, node);
        node
    }
    /// The constraint holds for the places an address expression points to.
    fn constrain(&mut self, address: ExprId, constraint: impl Fn(Shift) -> Constraint) {
        for term in self.terms.of(address).to_vec() {
            match term.base {
                Base::Var(v) => self.add_constraint(v.0, constraint(term.shift)),
                _ => {
                    let location = self.location_of(term);
                    self.apply(constraint(Shift::ZERO), location);
                }
            }
        }
    }

    fn globals(&mut self) {
        let program = self.program;
        for (g, global) in program.globals.iter() {
            let object = self.memory.global(g);
            for &(off, value) in global.init.iter().flat_map(|init| &init.pointers) {
                let width = program.exprs.width(value).div_ceil(8);
                let at = Shift::new(i64::try_from(off).unwrap_or(i64::MAX), 0);
                if let Some(nodes) = self.slot(object, at, width) {
                    self.assign(value, nodes.written);
                }
            }
        }
        for (v, var) in program.vars.iter() {
            if let VarKind::Global { init: Some(init) } = var.kind {
                self.assign(init, v.0);
            }
        }
    }

    /// Whether an unknown value of this type may be a pointer: an integer from outside is none, as only a
    /// pointer gives the right to access an object.
    fn is_pointer(&self, ty: TypeId, width: u32) -> bool {
        width >= self.program.layout.pointer_width
            && !matches!(
                self.program.plain_type(ty),
                CType::Bool | CType::Int { .. } | CType::Float { .. } | CType::Enum { .. } | CType::Void
            )
    }

    fn reach(&mut self, f: FuncId) {
        if !std::mem::replace(&mut self.reached[f.index()], true) {
            self.to_reach.push(f);
        }
    }

    fn operation(&mut self, id: EdgeId) {
        let program = self.program;
        let width_of = |bits: u32| bits.div_ceil(8);
        match &program.edges[id].op {
            Op::Assign { var, value } => self.assign(*value, var.0),
            Op::Load { var, addr } => {
                let (to, width) = (var.0, width_of(program.vars[*var].width));
                self.constrain(*addr, |shift| Constraint::Load { shift, width, to });
            }
            Op::Store { addr, value } => {
                let width = width_of(program.exprs.width(*value));
                if let Some(from) = self.value(*value) {
                    self.constrain(*addr, |shift| Constraint::Store { shift, width, from });
                }
            }
            Op::Alloc { var, .. } => {
                let object = self.memory.alloc(id);
                let location = self.memory.location(object, Shift::ZERO);
                self.add_location(var.0, location);
            }
            Op::Havoc { var, input } => {
                let input = &program.inputs[*input];
                // What an unmodelled function returns comes after an edge that taints the run, and what was not
                // initialised must not be used.
                if matches!(input.kind, InputKind::Nondet(_)) && self.is_pointer(input.ty, input.width) {
                    let unknown = self.memory.location(self.memory.unknown, Shift::ANY);
                    self.add_location(var.0, unknown);
                }
            }
            Op::Copy { dst, src, len } => {
                let len = match program.exprs.as_const(*len) {
                    Some(len) => len.to_u64().and_then(|l| u32::try_from(l).ok()),
                    None => None,
                };
                let buffer = self.memory.buffer(id);
                self.constrain(*src, |shift| Constraint::CopyFrom { shift, len, buffer });
                self.constrain(*dst, |shift| Constraint::CopyTo { shift, len, buffer });
            }
            Op::Call { callee: Callee::Direct(f), .. } => self.call(id, *f),
            Op::Call { callee: Callee::Indirect(e), .. } => {
                self.indirect.insert(id, Vec::new());
                self.constrain(*e, |_| Constraint::Call { edge: id });
            }
            Op::Return { value: Some(value) } => {
                let to = self.result_node(program.func_of(id));
                self.assign(*value, to);
            }
            _ => {}
        }
    }

    fn call(&mut self, id: EdgeId, f: FuncId) {
        let program = self.program;
        let Op::Call { args, varargs, result, .. } = &program.edges[id].op else { unreachable!("a call edge") };
        let callee = &program.funcs[f];
        for (&arg, &param) in args.iter().zip(&callee.params) {
            self.assign(arg, param.0);
        }
        if let (Some(block), Some(var)) = (varargs, callee.varargs) {
            self.assign(*block, var.0);
        }
        if let Some(result) = result {
            self.add_edge(self.result_node(f), result.0);
        }
        self.reach(f);
    }

    // Constraints at work.

    fn constraints(&mut self) {
        for n in std::mem::take(&mut self.dirty) {
            // A node that was merged away left its work with its representative.
            if self.find(n) != n {
                continue;
            }
            let node = &mut self.nodes[n as usize];
            node.dirty = false;
            let pending = std::mem::take(&mut node.pending);
            let unseen = std::mem::take(&mut node.unseen);
            let seen = if pending.is_empty() { Vec::new() } else { std::mem::take(&mut node.seen) };
            let all = if unseen.is_empty() { SparseSet::new() } else { node.all.clone() };
            self.apply_all(&seen, &pending);
            self.apply_all(&unseen, &all);
            // In the unification mode the node may have been merged in between.
            let root = self.find(n);
            self.nodes[root as usize].add_seen(seen);
            self.nodes[root as usize].add_seen(unseen);
            if !self.nodes[root as usize].pending.is_empty() {
                self.soil(root);
            }
        }
    }

    fn apply_all(&mut self, constraints: &[Constraint], locations: &SparseSet) {
        if locations.is_empty() {
            return;
        }
        for &constraint in constraints {
            if let Constraint::Carry { route, slot } = constraint {
                self.carry(route, slot);
                continue;
            }
            for l in locations.iter() {
                self.apply(constraint, LocationId(l));
            }
            if self.out_of_time() {
                return;
            }
        }
    }

    fn apply(&mut self, constraint: Constraint, location: LocationId) {
        let place = self.memory.locations[location];
        let kind = self.memory.objects[place.object].kind;
        let is_func = matches!(kind, ObjectKind::Func(_));
        match constraint {
            Constraint::Load { shift, width, to } if !is_func => {
                if let Some(nodes) = self.slot(place.object, place.at.then(shift), width) {
                    self.add_edge(nodes.read, to);
                }
            }
            Constraint::Store { shift, width, from } if !is_func => {
                if let Some(nodes) = self.slot(place.object, place.at.then(shift), width) {
                    self.add_edge(from, nodes.written);
                }
            }
            Constraint::CopyFrom { shift, len, buffer } if !is_func => {
                let from = place.at.then(shift);
                self.add_route(Route { source: place.object, from, len, object: buffer, to: Shift::ZERO });
            }
            Constraint::CopyTo { shift, len, buffer } if !is_func => {
                let to = place.at.then(shift);
                self.add_route(Route { source: buffer, from: Shift::ZERO, len, object: place.object, to });
            }
            Constraint::Call { edge } => match kind {
                ObjectKind::Func(f) => self.call_indirect(edge, f),
                ObjectKind::Unknown => {
                    for f in self.address_taken.clone() {
                        self.call_indirect(edge, f);
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }

    fn call_indirect(&mut self, edge: EdgeId, f: FuncId) {
        let callees = self.indirect.get_mut(&edge).expect("an indirect call");
        if let Err(i) = callees.binary_search(&f) {
            callees.insert(i, f);
            self.call(edge, f);
        }
    }

    /// Objects with too many locations or slots lose their fields: one slot, one location.
    fn collapse_objects(&mut self) {
        let crowded = self.memory.take_crowded();
        if crowded.is_empty() {
            return;
        }
        let mut gone: FxHashMap<u32, u32> = FxHashMap::default();
        for object in crowded {
            let whole = self.memory.location(object, Shift::ANY);
            let others = self.memory.locations.iter().filter(|(id, l)| l.object == object && *id != whole);
            gone.extend(others.map(|(id, _)| (id.0, whole.0)));
            let slots: Vec<SlotNodes> = self.memory.objects[object].slots.iter().map(|s| s.1).collect();
            if let Some(first) = slots.first() {
                slots.iter().for_each(|s| self.drop_carries(s.read, object));
                for other in &slots {
                    self.merge(first.written, other.written);
                    self.merge(first.written, other.read);
                }
            }
            self.memory.collapse(object, slots.first().map(|f| f.written));
            for route in self.routes_from.remove(&object).unwrap_or_default() {
                self.add_route(self.routes[route as usize]);
            }
            self.changed = true;
        }
        let gone_set: SparseSet = {
            let mut ids: Vec<u32> = gone.keys().copied().collect();
            ids.sort_unstable();
            ids.into_iter().collect()
        };
        for node in &mut self.nodes {
            for set in [&mut node.all, &mut node.new, &mut node.pending] {
                if set.intersects(&gone_set) {
                    let wholes: Vec<u32> = set.iter().filter_map(|l| gone.get(&l).copied()).collect();
                    set.subtract(&gone_set);
                    wholes.into_iter().for_each(|l| {
                        set.insert(l);
                    });
                }
            }
        }
    }

    /// The node no longer stands for one slot of this object.
    fn drop_carries(&mut self, node: u32, object: ObjectId) {
        let n = self.find(node) as usize;
        let routes = &self.routes;
        let keep = |c: &Constraint| match c {
            Constraint::Carry { route, .. } => routes[*route as usize].source != object,
            _ => true,
        };
        self.nodes[n].seen.retain(keep);
        self.nodes[n].unseen.retain(keep);
    }

    /// The nodes of a slot; `None` if it lies outside the object.
    fn slot(&mut self, object: ObjectId, at: Shift, width: u32) -> Option<SlotNodes> {
        if object == self.memory.unknown {
            self.link_universe();
        }
        let (parent, nodes) = (&mut self.parent, &mut self.nodes);
        let make = || {
            let written = nodes.len() as u32;
            for id in [written, written + 1] {
                parent.push(id);
                nodes.push(Node::default());
            }
            SlotNodes { written, read: written + 1 }
        };
        match self.memory.slot(object, at, width, make) {
            SlotLookup::Known(nodes) => Some(nodes),
            SlotLookup::Outside => None,
            SlotLookup::Made(nodes, slot, overlapping) => {
                self.add_edge(nodes.written, nodes.read);
                for other in overlapping {
                    self.add_edge(nodes.written, other.read);
                    self.add_edge(other.written, nodes.read);
                }
                for i in 0..self.routes_from.get(&object).map_or(0, Vec::len) {
                    let route = self.routes_from[&object][i];
                    self.add_constraint(nodes.read, Constraint::Carry { route, slot });
                }
                Some(nodes)
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
        self.add_location(unknown.written, location);
        for object in self.memory.objects.ids() {
            if matches!(self.memory.objects[object].kind, ObjectKind::Global(_) | ObjectKind::Alloc(_))
                && let Some(nodes) = self.slot(object, Shift::ANY, 1)
            {
                self.add_edge(unknown.written, nodes.written);
                self.add_edge(nodes.read, unknown.read);
            }
        }
    }

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
            self.add_constraint(nodes.read, Constraint::Carry { route: id, slot });
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
        let source = self.memory.objects[source].slots.find(&slot);
        if let (Some(source), Some(target)) = (source, self.slot(object, at, slot.width)) {
            self.add_edge(source.read, target.written);
        }
    }
}

fn address_taken(program: &Program) -> Vec<FuncId> {
    let mut taken: Vec<FuncId> = (0..program.exprs.len())
        .filter_map(|e| match program.exprs.get(ExprId(e as u32)) {
            Expr::FuncAddr(f) => Some(*f),
            _ => None,
        })
        .collect();
    taken.sort_unstable();
    taken
}

// Waves.

impl Solver<'_> {
    /// Merges the cycles of plain edges, gives cycles of shifts their stride, and orders the nodes.
    fn merge_cycles(&mut self) {
        if !self.changed && self.ordered == self.nodes.len() {
            return;
        }
        self.tidy();
        if self.changed {
            let cycles = Components::of(self.nodes.len(), |n, k| self.nodes[n as usize].plain.get(k).copied());
            for cycle in cycles.iter().filter(|c| c.len() > 1) {
                for &member in &cycle[1..] {
                    self.merge(cycle[0], member);
                }
            }
            self.tidy();
        }
        let components = Components::of(self.nodes.len(), |n, k| {
            let node = &self.nodes[n as usize];
            node.plain.get(k).or_else(|| node.shifted.get(k - node.plain.len()).map(|(to, _)| to)).copied()
        });
        self.order.clear();
        for component in components.iter().rev() {
            if component.len() > 1 || self.nodes[component[0] as usize].shifted.iter().any(|e| e.0 == component[0]) {
                self.stride_cycle(component, &components);
            }
            self.order.extend(component.iter().rev().filter(|&&n| self.parent[n as usize] == n));
        }
        self.ordered = self.nodes.len();
        self.changed = false;
    }

    /// Redirects edges to representatives and drops doubles.
    fn tidy(&mut self) {
        for n in 0..self.nodes.len() {
            let mut plain = std::mem::take(&mut self.nodes[n].plain);
            let mut shifted = std::mem::take(&mut self.nodes[n].shifted);
            plain.iter_mut().for_each(|to| *to = self.find(*to));
            shifted.iter_mut().for_each(|e| e.0 = self.find(e.0));
            plain.sort_unstable();
            plain.dedup();
            plain.retain(|&to| to as usize != n);
            shifted.sort_unstable();
            shifted.dedup();
            self.nodes[n].plain = plain;
            self.nodes[n].shifted = shifted;
        }
    }

    /// Where going round a cycle moves a pointer, the cycle's shifts get the stride of that movement.
    fn stride_cycle(&mut self, members: &[u32], components: &Components) {
        let component = components.component[members[0] as usize];
        let inside = |n: u32| components.component[n as usize] == component;
        let mut potential: FxHashMap<u32, i64> = FxHashMap::default();
        let mut stride = 0u32;
        let mut stack = vec![members[0]];
        potential.insert(members[0], 0);
        while let Some(n) = stack.pop() {
            let here = potential[&n];
            let node = &self.nodes[n as usize];
            let plain = node.plain.iter().map(|&to| (to, Shift::ZERO));
            for (to, shift) in plain.chain(node.shifted.iter().copied()).filter(|e| inside(e.0)) {
                stride = gcd(stride, shift.stride);
                let there = here.wrapping_add(shift.off);
                match potential.get(&to) {
                    Some(&p) => stride = gcd(stride, u32::try_from(there.abs_diff(p)).unwrap_or(1)),
                    None => {
                        potential.insert(to, there);
                        stack.push(to);
                    }
                }
            }
        }
        if stride == 0 {
            return;
        }
        for &n in members {
            for i in 0..self.nodes[n as usize].shifted.len() {
                let (to, shift) = self.nodes[n as usize].shifted[i];
                let strided = Shift::new(shift.off, gcd(shift.stride, stride));
                if inside(to) && strided != shift {
                    self.nodes[n as usize].shifted[i].1 = strided;
                    self.shifted_edges.insert((n, to, strided));
                    let all = self.nodes[n as usize].all.clone();
                    self.flow_shifted(&all, to, strided);
                }
            }
        }
    }

    /// Two nodes become one.
    fn merge(&mut self, a: u32, b: u32) {
        let (a, b) = (self.find_shorten(a), self.find_shorten(b));
        if a == b {
            return;
        }
        self.parent[b as usize] = a;
        let other = std::mem::take(&mut self.nodes[b as usize]);
        let node = &mut self.nodes[a as usize];
        if node.all != other.all {
            // What only one of the two had is new to the other's edges and constraints.
            let mut difference = other.all.clone();
            difference.subtract(&node.all);
            node.all.subtract(&other.all);
            difference.union(&node.all);
            node.all.union(&other.all);
            node.new.union(&difference);
            node.pending.union(&difference);
        }
        node.new.union(&other.new);
        node.pending.union(&other.pending);
        node.plain.extend(other.plain);
        node.shifted.extend(other.shifted);
        node.add_seen(other.seen);
        node.unseen.extend(other.unseen);
        if node.has_constraints() {
            self.soil(a);
        }
    }

    /// One wave: what is new goes along every edge, sources before targets.
    fn propagate(&mut self) {
        for i in 0..self.order.len() {
            let n = self.order[i] as usize;
            if self.nodes[n].new.is_empty() || self.parent[n] as usize != n {
                continue;
            }
            let new = std::mem::take(&mut self.nodes[n].new);
            if self.nodes[n].has_constraints() {
                self.nodes[n].pending.union(&new);
                self.soil(n as u32);
            }
            if self.out_of_time() {
                return;
            }
            for k in 0..self.nodes[n].plain.len() {
                let to = self.find(self.nodes[n].plain[k]) as usize;
                let target = &mut self.nodes[to];
                target.all.union_fresh(&new, &mut target.new);
            }
            for k in 0..self.nodes[n].shifted.len() {
                let (to, shift) = self.nodes[n].shifted[k];
                self.flow_shifted(&new, to, shift);
            }
        }
    }
}
