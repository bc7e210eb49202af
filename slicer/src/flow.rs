//! The basic blocks of one function, with their control dependences.

use crate::alive::Alive;
use crate::call_graph::CallGraph;
use crate::control::{Control, controls};
use cfa::graph::{Digraph, Lists};
use cfa::{Edge, EdgeId, FuncId, Id, LocId, Op, Out, Program};
use rustc_hash::{FxHashMap, FxHashSet};

/// A basic block: execution enters at its first location and leaves after its last edge.
pub struct Block {
    /// The first location.
    pub first: LocId,
    /// The edges of the block. The edges of a branch at its end are not among them, but that of an omitted assumption is.
    pub edges: Vec<EdgeId>,
    /// The end of the block.
    pub end: BlockEnd,
}

/// The end of a basic block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockEnd {
    /// Continues with the next block.
    Goto,
    /// A branch with two assume edges.
    Branch {
        /// The edge of the true branch.
        then_edge: EdgeId,
        /// The edge of the false branch.
        else_edge: EdgeId,
    },
    /// The last edge is a call that may not return.
    Call(EdgeId),
    /// Returns from the function.
    Return,
    /// The program ends, or no criterion is reachable any more.
    Stop,
}

/// The control-flow graph of a function. Block 0 is the entry. Two nodes follow the blocks: `returned`, which joins all
/// returns, and `end`, which joins all ends of the program.
pub struct Flow {
    /// The blocks.
    pub blocks: Vec<Block>,
    /// The control flow between the blocks and `returned`, without the edges that end the program.
    pub graph: Digraph,
    /// For each block and `returned`, the blocks whose ends decide whether it is executed.
    pub controls: Lists<u32>,
    number: FxHashMap<LocId, u32>,
}

impl Flow {
    /// The node that joins all returns.
    pub fn returned(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// The block that starts at the location, if there is one.
    pub fn block_at(&self, loc: LocId) -> Option<u32> {
        self.number.get(&loc).copied()
    }

    /// Builds the blocks of function `f` from its live locations, with control dependences of the kind `control`.
    pub fn new(
        program: &Program,
        alive: &Alive,
        calls: &CallGraph,
        stops: &Stops,
        f: FuncId,
        control: Control,
    ) -> Self {
        let is_call = |e: EdgeId| matches!(program.edges[e].op, Op::Call { .. }) || !calls.callees(e).is_empty();
        let may_stop = |e: EdgeId| is_call(e) && stops.call(calls, e) != Stop::Never;
        let (blocks, number) = blocks(program, alive, f, may_stop);
        let returned = blocks.len() as u32;
        let end = returned + 1;
        let block_at = |loc: LocId| number.get(&loc).copied();
        let target = |e: EdgeId| block_at(program.edges[e].target);
        let mut within = Vec::new();
        let mut all = vec![(returned, end)];
        for (b, block) in blocks.iter().enumerate() {
            let b = b as u32;
            let mut to = |t: Option<u32>| {
                within.extend(t.map(|t| (b, t)));
                all.push((b, t.unwrap_or(end)));
            };
            match block.end {
                BlockEnd::Goto => to(block_at(next_location(program, block))),
                BlockEnd::Call(call) => {
                    to(target(call));
                    all.push((b, end));
                }
                BlockEnd::Branch { then_edge, else_edge } => {
                    to(target(then_edge));
                    to(target(else_edge));
                }
                BlockEnd::Return => to(Some(returned)),
                BlockEnd::Stop => all.push((b, end)),
            }
        }
        // The blocks that end the program otherwise than at a criterion.
        let ends_at = |e: EdgeId| stops.ends_at(program, alive, calls, e);
        let ends = blocks.iter().map(|block| match block.end {
            BlockEnd::Branch { then_edge, else_edge } => ends_at(then_edge) || ends_at(else_edge),
            _ => block.edges.last().is_some_and(|&last| ends_at(last)),
        });
        let ends: Vec<bool> = ends.chain([true, false]).collect();
        let graph = Digraph::new(end as usize + 1, &all);
        let controls = controls(control, &graph, end, &ends);
        let graph = Digraph::new(blocks.len() + 1, &within);
        Self { blocks, graph, controls, number }
    }
}

fn next_location(program: &Program, block: &Block) -> LocId {
    block.edges.last().map_or(block.first, |&e| program.edges[e].target)
}

/// The live blocks of a function, and the number of each by its first location. `may_stop` is true for calls that may
/// not return.
fn blocks(
    program: &Program,
    alive: &Alive,
    f: FuncId,
    may_stop: impl Fn(EdgeId) -> bool,
) -> (Vec<Block>, FxHashMap<LocId, u32>) {
    let entry = program.funcs[f].entry;
    if !alive.loc(entry) {
        return (Vec::new(), FxHashMap::default());
    }
    // The locations of the function in depth-first order, and those that start blocks.
    let mut entered: FxHashMap<LocId, u32> = FxHashMap::default();
    let mut order = Vec::new();
    let mut leads: FxHashMap<LocId, ()> = FxHashMap::default();
    leads.insert(entry, ());
    let mut stack = vec![entry];
    entered.insert(entry, 1);
    while let Some(loc) = stack.pop() {
        order.push(loc);
        for id in program.out_edges(loc) {
            let edge = &program.edges[id];
            if matches!(edge.op, Op::Return { .. } | Op::Halt(_) | Op::Error(_)) || !alive.loc(edge.target) {
                continue;
            }
            if matches!(edge.op, Op::Assume { .. }) || may_stop(id) {
                leads.insert(edge.target, ());
            }
            let times = entered.entry(edge.target).or_insert(0);
            *times += 1;
            match *times {
                1 => stack.push(edge.target),
                _ => {
                    leads.insert(edge.target, ());
                }
            }
        }
    }
    let firsts = order.into_iter().filter(|l| leads.contains_key(l));
    let mut number: FxHashMap<LocId, u32> = FxHashMap::default();
    let mut blocks = Vec::new();
    for first in firsts {
        number.insert(first, blocks.len() as u32);
        let mut edges = Vec::new();
        let mut at = first;
        let end = loop {
            match alive.out(program, at) {
                Out::Branch { then_edge, else_edge } => break BlockEnd::Branch { then_edge, else_edge },
                Out::Sink => break BlockEnd::Stop,
                Out::One(id) => {
                    edges.push(id);
                    let edge = &program.edges[id];
                    match edge.op {
                        Op::Return { .. } => break BlockEnd::Return,
                        Op::Halt(_) | Op::Error(_) => break BlockEnd::Stop,
                        _ if !alive.loc(edge.target) => break BlockEnd::Stop,
                        _ if may_stop(id) => break BlockEnd::Call(id),
                        _ => at = edge.target,
                    }
                    if leads.contains_key(&at) {
                        break BlockEnd::Goto;
                    }
                }
            }
        };
        blocks.push(Block { first, edges, end });
    }
    (blocks, number)
}

/// The ways in which execution may fail to return from a function, including its callees. Greater values include smaller
/// ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stop {
    /// The function always returns.
    Never,
    /// It may end the program at errors, or in criteria that do not return.
    AtCriterion,
    /// It may also end the program elsewhere, loop forever, or reach a location from which no criterion is reachable.
    Otherwise,
}

/// For each function, the ways in which it may fail to return.
pub struct Stops {
    stops: Vec<Stop>,
    criteria: FxHashSet<EdgeId>,
}

impl Stops {
    /// Computes `Stop` for all functions. Loops are assumed to terminate if `control` is standard, or if a path leaves
    /// them without a criterion.
    pub fn new(
        program: &Program,
        alive: &Alive,
        calls: &CallGraph,
        control: Control,
        criteria: FxHashSet<EdgeId>,
    ) -> Self {
        let mut this = Self { stops: vec![Stop::Never; program.funcs.len()], criteria };
        // From the entry of a dead function, no criterion is reachable, nor does it return to one.
        let dead = program.funcs.iter().filter(|(_, f)| !alive.loc(f.entry));
        let mut work: Vec<(FuncId, Stop)> = dead.map(|(f, _)| (f, Stop::Otherwise)).collect();
        for id in alive.edges(program) {
            let edge = &program.edges[id];
            let ends = match edge.op {
                Op::Return { .. } => false,
                Op::Halt(_) | Op::Error(_) => true,
                Op::Call { .. } if calls.callees(id).is_empty() => true,
                _ => !alive.loc(edge.target),
            };
            if ends {
                let otherwise = this.ends_at(program, alive, calls, id);
                work.push((program.func_of(id), if otherwise { Stop::Otherwise } else { Stop::AtCriterion }));
            }
        }
        if control != Control::Standard {
            work.extend(program.funcs.ids().filter(|&f| calls.is_recursive(f)).map(|f| (f, Stop::Otherwise)));
        }
        this.propagate(program, calls, work);
        this.propagate(program, calls, this.endless(program, alive, calls, control));
        this
    }

    fn propagate(&mut self, program: &Program, calls: &CallGraph, mut work: Vec<(FuncId, Stop)>) {
        while let Some((f, stop)) = work.pop() {
            if self.stops[f.index()] < stop {
                self.stops[f.index()] = stop;
                for &call in calls.callers(f) {
                    let stop = if self.criteria.contains(&call) { Stop::AtCriterion } else { stop };
                    work.push((program.func_of(call), stop));
                }
            }
        }
    }

    /// The functions with loops that may not terminate: only a criterion leaves them. Other than with standard control
    /// dependence, all loops count.
    fn endless(&self, program: &Program, alive: &Alive, calls: &CallGraph, control: Control) -> Vec<(FuncId, Stop)> {
        let mut into: Vec<Vec<LocId>> = vec![Vec::new(); program.locs.len()];
        let mut ends = Vec::new();
        for id in alive.edges(program) {
            let edge = &program.edges[id];
            if self.ends_at(program, alive, calls, id) {
                ends.push(edge.source);
            }
            if !matches!(edge.op, Op::Return { .. } | Op::Halt(_) | Op::Error(_)) && alive.loc(edge.target) {
                into[edge.target.index()].push(edge.source);
            }
        }
        let mut leaves = vec![false; program.locs.len()];
        while let Some(loc) = ends.pop() {
            if !std::mem::replace(&mut leaves[loc.index()], true) {
                ends.extend(&into[loc.index()]);
            }
        }
        let flow = program.edges.values().filter(|e| alive.loc(e.source)).map(|e| (e.source.0, e.target.0));
        let components = Digraph::new(program.locs.len(), &flow.collect::<Vec<_>>()).components();
        let on_cycle = |e: &Edge| components.component(e.source.0) == components.component(e.target.0);
        let loops = program.edges.values().filter(|e| alive.loc(e.source) && on_cycle(e));
        loops
            .filter(|e| control != Control::Standard || !leaves[e.source.index()])
            .map(|e| (program.locs[e.source].func, Stop::Otherwise))
            .collect()
    }

    /// The ways in which a call may fail to return. A call that is a criterion counts at most as [`Stop::AtCriterion`].
    pub fn call(&self, calls: &CallGraph, call: EdgeId) -> Stop {
        let callees = calls.callees(call);
        let stop = callees.iter().map(|f| self.stops[f.index()]).max().unwrap_or(Stop::Otherwise);
        if self.criteria.contains(&call) { stop.min(Stop::AtCriterion) } else { stop }
    }
    /// True if the edge leaves the function or enters a location from which no criterion is reachable. False at errors
    /// and at criteria that do not return: a path may wait for these forever.
    fn ends_at(&self, program: &Program, alive: &Alive, calls: &CallGraph, id: EdgeId) -> bool {
        let edge = &program.edges[id];
        let dead = !alive.loc(edge.target);
        match edge.op {
            Op::Error(_) => false,
            Op::Return { .. } | Op::Halt(_) => true,
            Op::Call { .. } => self.call(calls, id) == Stop::Otherwise || dead && alive.reached[edge.target.index()],
            _ => dead,
        }
    }
}
