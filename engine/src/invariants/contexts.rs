//! A program in which small functions are there once for each call: what analyses that take all calls of a function together say of
//! it, they say of each call (Sharir, Pnueli, Two approaches to interprocedural data flow analysis, 1981: call strings, here of calls
//! whose callees are small). Copies share their variables with what they are copies of: nothing executes this program.

use cfa::{CallGraph, Callee, Edge, EdgeId, FuncId, Function, Id, LocId, Location, Op, Out, Program};
use rustc_hash::FxHashMap;
use slicer::pointer::PointsTo;

/// Edges of a function, with what is copied into its calls, that has a copy for each call.
const SMALL: usize = 600;
/// Edges of the whole, at most: so many times those of the program, and so many more.
const LARGER: usize = 2;
const MORE: usize = 20_000;

pub struct Contexts {
    pub program: Program,
    /// By edge, which of the original it is.
    pub origin: Vec<EdgeId>,
    /// By location, the same.
    pub locations: Vec<LocId>,
    /// By edge of the original, who is called for sure.
    callees: Vec<Option<FuncId>>,
}

impl Contexts {
    /// Calls through pointers of which the points-to analysis knows the callee are calls of that function.
    pub fn new(original: &Program, points_to: &PointsTo) -> Self {
        let mut program = original.clone();
        for (id, edge) in program.edges.iter_mut() {
            if let Op::Call { callee: callee @ Callee::Indirect(_), .. } = &mut edge.op
                && let [only] = points_to.callees(id)
            {
                *callee = Callee::Direct(*only);
            }
        }
        let callee = |edge: &Edge| match edge.op {
            Op::Call { callee: Callee::Direct(callee), .. } => Some(callee),
            _ => None,
        };
        let mut this = Self {
            origin: program.edges.ids().collect(),
            locations: program.locs.ids().collect(),
            callees: program.edges.values().map(callee).collect(),
            program,
        };
        this.expand();
        this
    }

    fn expand(&mut self) {
        let calls = CallGraph::new(&self.program);
        let mut locs: FxHashMap<FuncId, Vec<LocId>> = FxHashMap::default();
        for (id, loc) in self.program.locs.iter() {
            locs.entry(loc.func).or_default().push(id);
        }
        let mut sizes = vec![0usize; self.program.funcs.len()];
        for edge in self.program.edges.ids() {
            sizes[self.program.func_of(edge).index()] += 1;
        }
        let is_single = |func: FuncId| calls.callers(func).nth(1).is_none();
        // Callees before callers.
        for func in calls.bottom_up().flatten() {
            let inner = calls.calls_in(func).iter().filter_map(|&call| match self.program.edges[call].op {
                Op::Call { callee: Callee::Direct(callee), .. } if !calls.is_recursive(callee) => Some(callee),
                _ => None,
            });
            let more: usize = inner.map(|f| sizes[f.index()]).filter(|&size| size <= SMALL).sum();
            sizes[func.index()] += more;
        }
        let most = self.program.edges.len() * LARGER + MORE;
        // The smallest first, where there is an end to it.
        let mut todo: Vec<FuncId> = self.program.funcs.ids().filter(|&f| calls.is_reachable(f)).collect();
        let mut next = 0;
        while let Some(&func) = todo.get(next) {
            next += 1;
            let edges: Vec<EdgeId> = locs[&func].iter().flat_map(|&loc| self.program.out_edges(loc)).collect();
            for edge in edges {
                let Op::Call { callee: Callee::Direct(callee), .. } = self.program.edges[edge].op else { continue };
                let size = sizes[callee.index()];
                if size > SMALL
                    || calls.is_recursive(callee)
                    || is_single(callee)
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

    /// A function that does the same.
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
                self.origin.push(origin);
                // What is copied may call copies already.
                if let (Op::Call { callee, .. }, Some(called)) = (&mut copied.op, self.callees[origin.index()]) {
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
