//! The system dependence graph (Horwitz, Reps, Binkley: *Interprocedural slicing using dependence graphs*,
//! TOPLAS 1990), with static single assignment form for variables and memory regions in place of def-use pairs.
//!
//! A node depends on the nodes in its row. A strong definition of a cell is the operation itself. Every other
//! definition has a node of its own: parameters and cells on entry, weak writes, joins of control flow, and the effects
//! of calls. The dependences that cross calls are not stored: [`crate::mark`] derives them from the node's kind.

mod function;

use crate::alive::Alive;
use crate::call_graph::CallGraph;
use crate::control::Control;
use crate::crossing::{Crossings, Interfaces, Site};
use crate::flow::{Flow, Stops};
use crate::modref::{Cell, CellNumbers, ExprVars, ModRef};
use crate::regions::{RegionId, Regions};
use cfa::graph::{Lists, NONE};
use cfa::{EdgeId, FuncId, Id, LocId, Program};
use function::FunctionBuilder;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::time::Instant;

/// The kind of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeKind {
    /// The function is executed.
    Entry(FuncId),
    /// An operation. The node of a branch represents both edges and has the id of the true edge.
    Op(EdgeId),
    /// The block is executed.
    Control(LocId),
    /// The value that a call passes for a parameter. The last one is the block of variadic arguments.
    Argument(EdgeId, u32),
    /// The value of a `Return` edge.
    Returned(EdgeId),
    /// A cell after a write that may preserve part of its old value.
    Weak(EdgeId, Cell),
    /// A cell where control flow joins (a phi node).
    Join(LocId, Cell),
    /// A cell or parameter at the entry of a function.
    In(FuncId, Cell),
    /// A cell, the result, or the fact of returning, at the return of a function.
    Out(FuncId, Cell),
    /// A cell, the result, or the fact of returning, after a call.
    After(EdgeId, Cell),
    /// All writes of a cell that is not followed through calls.
    Unordered(Cell),
    /// Several `Unordered` cells that are read together, or the operations that write several of them together.
    Gathered,
    /// Control reaches the edge, with the values observed there.
    Observed(EdgeId),
}

/// The system dependence graph of a program.
pub struct Sdg {
    /// The kinds of the nodes.
    pub kinds: Vec<NodeKind>,
    /// For each node, the nodes that it depends on, except for dependences that cross calls.
    pub deps: Lists<u32>,
    /// The numbering of cells.
    pub cells: CellNumbers,
    /// By edge, the node of its operation, or `NONE` if the edge is dead.
    op_nodes: Vec<u32>,
    /// By function, its `Entry` node.
    pub entries: Vec<u32>,
    /// The dependences between calls and callees.
    pub crossings: Crossings,
    /// The `Argument` nodes of each call. The node of the variadic block is the last.
    arguments: FxHashMap<EdgeId, Vec<u32>>,
    /// The `Observed` nodes of the observations, in their order; `NONE` if control cannot reach one.
    pub observed: Vec<u32>,
    /// By edge, the indices of its observations in `observed`.
    pub observed_at: FxHashMap<EdgeId, Vec<u32>>,
    /// By function, the first of its nodes and the end of their range. The range does not contain its `Entry` node.
    pub nodes_of: Vec<(u32, u32)>,
    /// By function, its control flow; `None` if no criterion is reachable from its entry.
    pub flows: Vec<Option<Flow>>,
}

impl Sdg {
    /// The node of the edge's operation; `None` if the edge is dead.
    pub fn op(&self, edge: EdgeId) -> Option<u32> {
        let n = self.op_nodes[edge.index()];
        (n != NONE).then_some(n)
    }
    /// The control node of a live edge.
    pub fn control(&self, edge: EdgeId) -> Option<u32> {
        let op = self.op(edge)?;
        self.deps.get(op).iter().copied().find(|&n| matches!(self.kinds[n as usize], NodeKind::Control(_)))
    }
    /// The `Argument` nodes of a call.
    pub fn arguments(&self, call: EdgeId) -> &[u32] {
        self.arguments.get(&call).map_or(&[], Vec::as_slice)
    }
    /// The `Argument` node at this position. The variadic block is the last.
    pub fn argument(&self, call: EdgeId, index: u32) -> Option<u32> {
        self.arguments(call).get(index as usize).copied()
    }
}

/// The position of the block of variadic arguments among the arguments of a call.
pub const VARIADIC: u32 = u32::MAX;

/// The inputs of the graph's construction.
pub struct Parts<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its live locations.
    pub alive: &'a Alive,
    /// The regions of memory.
    pub regions: &'a Regions,
    /// The call graph.
    pub calls: &'a CallGraph,
    /// The effects of functions.
    pub modref: &'a ModRef,
    /// For each function, how it may fail to return.
    pub stops: &'a Stops,
    /// The numbering of cells.
    pub cells: CellNumbers,
    /// The notion of control dependence.
    pub control: Control,
    /// The values to observe.
    pub observations: &'a [Observation],
    /// True if undefined functions read or write memory.
    pub undefined: bool,
    /// The time at which the construction gives up.
    pub deadline: Option<Instant>,
}

/// Cells whose values are observed when control reaches the source of an edge.
pub struct Observation {
    /// The edge.
    pub edge: EdgeId,
    /// The observed cells.
    pub cells: Vec<Cell>,
}

impl<'a> Parts<'a> {
    fn is_late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() > deadline)
    }

    /// Builds the graph. Returns `None` if the deadline passed.
    pub fn build(&'a self, vars: &'a mut ExprVars) -> Option<Sdg> {
        let program = self.program;
        let mut builder = Builder {
            parts: self,
            vars,
            kinds: Vec::new(),
            deps: Vec::new(),
            op_nodes: vec![NONE; program.edges.len()],
            entries: Vec::new(),
            ins: vec![Vec::new(); program.funcs.len()],
            outs: vec![Vec::new(); program.funcs.len()],
            sites: Vec::new(),
            returning: FxHashMap::default(),
            transparent: vec![Vec::new(); program.funcs.len()],
            built: vec![false; program.funcs.len()],
            dense: vec![NONE; self.cells.count()],
            unordered: FxHashMap::default(),
            gathered: FxHashMap::default(),
            ordered: FxHashMap::default(),
            observed: vec![NONE; self.observations.len()],
            observed_at: FxHashMap::default(),
        };
        for (i, o) in self.observations.iter().enumerate() {
            builder.observed_at.entry(o.edge).or_default().push(i as u32);
        }
        for f in program.funcs.ids() {
            let entry = builder.node(NodeKind::Entry(f));
            builder.entries.push(entry);
        }
        let flow = |f: u32| {
            let is_alive = self.alive.loc(program.funcs[FuncId(f)].entry) && !self.is_late();
            is_alive.then(|| Flow::new(program, self.alive, self.calls, self.stops, FuncId(f), self.control))
        };
        let flows: Vec<Option<Flow>> = (0..program.funcs.len() as u32).into_par_iter().map(flow).collect();
        let mut nodes_of = vec![(0, 0); program.funcs.len()];
        for component in self.calls.bottom_up() {
            if self.is_late() {
                return None;
            }
            for &f in component {
                let Some(flow) = &flows[f as usize] else { continue };
                let first = builder.kinds.len() as u32;
                FunctionBuilder::new(&mut builder, FuncId(f), flow).build();
                nodes_of[f as usize] = (first, builder.kinds.len() as u32);
            }
        }
        let deps = Lists::of_pairs(builder.kinds.len(), &builder.deps);
        builder.sites.sort_unstable_by_key(|s| s.0);
        let interfaces = Interfaces {
            program,
            calls: self.calls,
            cells: self.cells,
            op_nodes: &builder.op_nodes,
            ins: &builder.ins,
            outs: &builder.outs,
        };
        let crossings = Crossings::new(&interfaces, &builder.sites, builder.kinds.len());
        Some(Sdg {
            kinds: builder.kinds,
            deps,
            cells: self.cells,
            op_nodes: builder.op_nodes,
            entries: builder.entries,
            crossings,
            arguments: builder.sites.into_iter().map(|(call, site)| (call, site.arguments)).collect(),
            observed: builder.observed,
            observed_at: builder.observed_at,
            nodes_of,
            flows,
        })
    }
}

/// The dependence graph under construction.
struct Builder<'a> {
    parts: &'a Parts<'a>,
    vars: &'a mut ExprVars,
    kinds: Vec<NodeKind>,
    /// Pairs (node, node that it depends on).
    deps: Vec<(u32, u32)>,
    op_nodes: Vec<u32>,
    entries: Vec<u32>,
    /// By function, the `In` nodes, sorted by cell.
    ins: Vec<Vec<(Cell, u32)>>,
    /// By function, the `Out` nodes, sorted by cell.
    outs: Vec<Vec<(Cell, u32)>>,
    sites: Vec<(EdgeId, Site)>,
    /// By call, the node for the fact that it returns.
    returning: FxHashMap<EdgeId, u32>,
    /// By function, the cells that it may write but whose value on entry may remain at its return; sorted.
    transparent: Vec<Vec<Cell>>,
    built: Vec<bool>,
    /// Scratch memory: the dense number of each cell in the current function.
    dense: Vec<u32>,
    unordered: FxHashMap<Cell, u32>,
    /// By set of regions and by whether the set is written, the node for the unordered regions; `NONE` if there are
    /// none.
    gathered: FxHashMap<(u32, bool), u32>,
    ordered: FxHashMap<u32, Rc<[RegionId]>>,
    observed: Vec<u32>,
    observed_at: FxHashMap<EdgeId, Vec<u32>>,
}

impl Builder<'_> {
    fn node(&mut self, kind: NodeKind) -> u32 {
        let id = self.kinds.len() as u32;
        self.kinds.push(kind);
        id
    }
    fn depend(&mut self, node: u32, on: u32) {
        if on != NONE && on != node {
            self.deps.push((node, on));
        }
    }
    fn unordered(&mut self, cell: Cell) -> u32 {
        if let Some(&n) = self.unordered.get(&cell) {
            return n;
        }
        let n = self.node(NodeKind::Unordered(cell));
        self.unordered.insert(cell, n);
        n
    }
    /// The regions of a set without the unordered ones.
    fn ordered(&mut self, set: u32) -> Rc<[RegionId]> {
        let parts = self.parts;
        let ordered = self.ordered.entry(set).or_insert_with(|| {
            let all = parts.regions.set_of(set).iter().copied();
            all.filter(|&r| !parts.modref.unordered.contains(r)).collect()
        });
        ordered.clone()
    }
    /// The node that represents the unordered cells of a set of regions. There are few sets and many accesses.
    fn gathered(&mut self, set: u32, written: bool) -> u32 {
        if let Some(&known) = self.gathered.get(&(set, written)) {
            return known;
        }
        let parts = self.parts;
        let all = parts.regions.set_of(set).iter().copied();
        let cells: Vec<Cell> = all.filter(|&c| parts.modref.unordered.contains(c)).collect();
        let node = if cells.is_empty() { NONE } else { self.node(NodeKind::Gathered) };
        for cell in cells {
            let unordered = self.unordered(cell);
            let (on, from) = if written { (node, unordered) } else { (unordered, node) };
            self.depend(from, on);
        }
        self.gathered.insert((set, written), node);
        node
    }
}
