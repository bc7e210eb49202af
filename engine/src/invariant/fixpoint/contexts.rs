//! Context-sensitive copies of small functions: a program in which every call of a small function has its own copy of
//! the callee. A context-insensitive analysis of this program distinguishes the calls (Sharir, Pnueli, Two approaches
//! to interprocedural data flow analysis, 1981: call strings, here for small callees). Copies share their variables
//! with the original, so the program is not executable.

use cfa::facts::returning;
use cfa::graph::Digraph;
use cfa::{CallGraph, Callee, Edge, EdgeId, ExprId, FuncId, Function, Id, LocId, Location, Op, Out, Program};
use rustc_hash::FxHashMap;
use slicer::pointer::PointsTo;

/// Largest number of edges of a function, including its copied callees, that is copied for each call.
pub const SMALL: usize = 600;
/// Limits on the number of edges: the new program has at most `LARGER` times the edges of the original plus `MORE`.
const LARGER: usize = 2;
const MORE: usize = 20_000;

/// Largest number of possible callees of a call through a pointer that is resolved into copies.
const FEW: usize = 4;

/// A program with context-sensitive copies, and its mapping to the original.
pub struct Contexts {
    /// The program with copies.
    pub program: Program,
    /// By edge: the edge of the original.
    pub origin: Vec<EdgeId>,
    /// By location: the location of the original.
    pub locations: Vec<LocId>,
    /// By edge: the function that it calls directly, before functions are copied.
    callees: Vec<Option<FuncId>>,
    /// The number of functions of the original. Functions with greater ids are copies.
    pub originals: usize,
}

impl Contexts {
    /// Copies the functions of `original` with at most `small` edges. Resolves calls through pointers that have few callees according to the
    /// points-to analysis, if there is one.
    pub fn new(original: &Program, points_to: Option<&PointsTo>, small: usize) -> Self {
        let mut this = Self {
            origin: original.edges.ids().collect(),
            locations: original.locs.ids().collect(),
            callees: Vec::new(),
            originals: original.funcs.len(),
            program: original.clone(),
        };
        for (id, edge) in original.edges.iter() {
            if let Some(points_to) = points_to
                && let Op::Call { callee: Callee::Indirect(address), .. } = edge.op
                && let callees @ [_, ..] = points_to.callees(id)
                && callees.len() <= FEW
            {
                this.tell_apart(id, address, callees);
            }
        }
        this.copied(small)
    }

    /// Copies the functions with at most `small` edges.
    pub fn copied(mut self, small: usize) -> Self {
        let callee = |edge: &Edge| match edge.op {
            Op::Call { callee: Callee::Direct(callee), .. } => Some(callee),
            _ => None,
        };
        self.callees = self.program.edges.values().map(callee).collect();
        self.expand(small);
        self
    }

    /// The program without the operations that start at unreachable locations. Functions that only these calls make
    /// recursive are not recursive in it.
    pub fn reduced(&self, is_reachable: impl Fn(LocId) -> bool) -> Self {
        let mut program = self.program.clone();
        for edge in program.edges.ids() {
            let Edge { source, op, .. } = &mut program.edges[edge];
            if !is_reachable(*source) && !matches!(op, Op::Assume { .. } | Op::Return { .. }) {
                *op = Op::Skip;
            }
        }
        let (origin, locations) = (self.origin.clone(), self.locations.clone());
        Self { program, origin, locations, callees: Vec::new(), originals: self.originals }
    }

    /// Replaces a call through a pointer by a chain of comparisons with calls of the candidates. The last candidate
    /// needs no comparison.
    fn tell_apart(&mut self, call: EdgeId, address: ExprId, callees: &[FuncId]) {
        let program = &mut self.program;
        let mut edge = program.edges[call].clone();
        let (place, func) = (edge.source, program.locs[edge.source].func);
        let (&last, others) = callees.split_last().expect("somebody is called");
        for &other in others {
            let [to, rest] = [(); 2].map(|()| program.locs.push(Location { func, out: Out::Sink }));
            let width = program.exprs.width(address);
            let pointer = program.exprs.func_addr(other, width);
            let is_it = program.exprs.eq(address, pointer);
            program.locs[edge.source].out = Out::Sink;
            program.add_branch(edge.source, is_it, to, rest, edge.place);
            let call_it = program.edges.push(Edge { source: to, ..edge.clone() });
            program.locs[to].out = Out::One(call_it);
            direct(&mut program.edges[call_it], other);
            edge.source = rest;
        }
        direct(&mut edge, last);
        program.locs[edge.source].out = Out::One(call);
        program.edges[call] = edge;
        self.origin.resize(program.edges.len(), call);
        self.locations.resize(program.locs.len(), place);
    }

    fn expand(&mut self, small: usize) {
        let calls = CallGraph::new(&self.program);
        let mut locs: FxHashMap<FuncId, Vec<LocId>> = FxHashMap::default();
        for (id, loc) in self.program.locs.iter() {
            locs.entry(loc.func).or_default().push(id);
        }
        let mut sizes = vec![0usize; self.program.funcs.len()];
        for edge in self.program.edges.ids() {
            sizes[self.program.func_of(edge).index()] += 1;
        }
        // A function with a single call needs no copy, unless its caller is itself copied.
        let originals = self.program.funcs.len();
        let is_single = |caller: FuncId, func| caller.index() < originals && calls.callers(func).nth(1).is_none();
        // Functions that do not return are not copied, because no caller sees their effect. Without calls of them, most
        // functions that use a function such as `exit`, which may call much of the program, are not recursive.
        let returning = returning(&self.program);
        // The last node of the call graph stands for calls through pointers.
        let returns = |func: u32| func as usize >= originals || returning.contains(func as usize);
        let returning_calls: Vec<_> = calls.graph().edges().filter(|&(_, callee)| returns(callee)).collect();
        let graph = Digraph::new(calls.graph().len(), &returning_calls);
        let components = graph.components();
        let is_recursive = |func: FuncId| components.on_cycle(&graph, func.0);
        // Visit callees before their callers.
        for func in components.iter().flatten().map(|&func| FuncId(func)).filter(|func| func.index() < originals) {
            let inner = calls.calls_in(func).iter().filter_map(|&call| match self.program.edges[call].op {
                Op::Call { callee: Callee::Direct(callee), .. } if returns(callee.0) && !is_recursive(callee) => {
                    Some(callee)
                }
                _ => None,
            });
            let more: usize = inner.map(|f| sizes[f.index()]).filter(|&size| size <= small).sum();
            sizes[func.index()] += more;
        }
        let most = self.program.edges.len() * LARGER + MORE;
        let calls_itself = |func: FuncId| {
            let is_it = |&call: &EdgeId| matches!(self.program.edges[call].op, Op::Call { callee: Callee::Direct(callee), .. } if callee == func);
            calls.calls_in(func).iter().any(is_it)
        };
        let repeats: Vec<bool> = self.program.funcs.ids().map(calls_itself).collect();
        // A recursive function is copied for its calls in the original functions only.
        let is_unbounded =
            |caller: FuncId, func: FuncId| is_recursive(func) && (caller.index() >= originals || repeats[func.index()]);
        // Process the call tree breadth-first. The size limit ends the loop.
        let mut todo: Vec<FuncId> = self.program.funcs.ids().filter(|&f| calls.is_reachable(f)).collect();
        let mut next = 0;
        while let Some(&func) = todo.get(next) {
            next += 1;
            let edges: Vec<EdgeId> = locs[&func].iter().flat_map(|&loc| self.program.out_edges(loc)).collect();
            for edge in edges {
                let Op::Call { callee: Callee::Direct(callee), .. } = self.program.edges[edge].op else { continue };
                let size = sizes[callee.index()];
                if size > small
                    || !returns(callee.0)
                    || is_unbounded(func, callee)
                    || is_single(func, callee)
                    || self.program.edges.len() + size > most
                {
                    continue;
                }
                let copy = self.copy(callee, &locs[&callee].clone(), &mut locs);
                sizes.push(size);
                todo.push(copy);
                let Op::Call { callee, .. } = &mut self.program.edges[edge].op else { unreachable!("a call") };
                *callee = Callee::Direct(copy);
            }
        }
    }

    /// Adds a copy of a function.
    fn copy(&mut self, func: FuncId, locs: &[LocId], all: &mut FxHashMap<FuncId, Vec<LocId>>) -> FuncId {
        let program = &mut self.program;
        let copy = program.funcs.next_id();
        let mut to: FxHashMap<LocId, LocId> = FxHashMap::default();
        for &loc in locs {
            to.insert(loc, program.locs.push(Location { func: copy, out: Out::Sink }));
            self.locations.push(self.locations[loc.index()]);
        }
        let function = Function { entry: to[&program.funcs[func].entry], ..program.funcs[func].clone() };
        program.funcs.push(function);
        for &loc in locs {
            let mut add = |edge: EdgeId| {
                let Edge { source, target, .. } = program.edges[edge];
                let mut copied = Edge { source: to[&source], target: to[&target], ..program.edges[edge].clone() };
                let origin = self.origin[edge.index()];
                let called = self.callees[edge.index()];
                self.origin.push(origin);
                self.callees.push(called);
                // The edge may already call a copy.
                if let (Op::Call { callee, .. }, Some(called)) = (&mut copied.op, called) {
                    *callee = Callee::Direct(called);
                }
                program.edges.push(copied)
            };
            let out = match program.locs[loc].out {
                Out::Sink => Out::Sink,
                Out::One(edge) => Out::One(add(edge)),
                Out::Branch { then_edge, else_edge } => {
                    let (then_edge, else_edge) = (add(then_edge), add(else_edge));
                    Out::Branch { then_edge, else_edge }
                }
            };
            program.locs[to[&loc]].out = out;
        }
        all.insert(copy, to.into_values().collect());
        copy
    }
}

/// Makes a call a direct call of `func`.
fn direct(call: &mut Edge, func: FuncId) {
    let Op::Call { callee, .. } = &mut call.op else { unreachable!("a call") };
    *callee = Callee::Direct(func);
}
