//! The control flow of one function in basic blocks, and its control dependences.

use crate::alive::Alive;
use crate::call_graph::CallGraph;
use crate::control::{Control, controls};
use cfa::graph::{Digraph, Lists};
use cfa::{Edge, EdgeId, FuncId, Id, LocId, Op, Out, Program};
use rustc_hash::{FxHashMap, FxHashSet};

/// A straight line of edges: entered at its first location, left after its last edge.
pub struct Block {
    pub first: LocId,
    /// The edges of the line; of a branch at its end neither.
    pub edges: Vec<EdgeId>,
    pub end: End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Goto,
    Branch {
        then_edge: EdgeId,
        else_edge: EdgeId,
    },
    /// The last edge is a call after which the program may have ended.
    Call(EdgeId),
    Return,
    /// The program ends, or goes where no criterion can be reached any more.
    Stop,
}

/// The blocks of a function; block 0 is its entry. Two more nodes follow the blocks: `returned`, where all
/// returns meet, and `end`, where everything ends.
pub struct Flow {
    pub blocks: Vec<Block>,
    /// Of blocks and `returned`, without the ways that end the program.
    pub graph: Digraph,
    /// For each block and `returned`, the blocks at whose end is decided whether it is executed.
    pub controls: Lists<u32>,
    number: FxHashMap<LocId, u32>,
}

impl Flow {
    pub fn returned(&self) -> u32 {
        self.blocks.len() as u32
    }

    /// The block that starts at a location.
    pub fn block_at(&self, loc: LocId) -> Option<u32> {
        self.number.get(&loc).copied()
    }

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
                End::Goto => to(block_at(next_location(program, block))),
                End::Call(call) => {
                    to(target(call));
                    all.push((b, end));
                }
                End::Branch { then_edge, else_edge } => {
                    to(target(then_edge));
                    to(target(else_edge));
                }
                End::Return => to(Some(returned)),
                End::Stop => all.push((b, end)),
            }
        }
        // Where ways end otherwise than at a criterion.
        let ends_at = |e: EdgeId| stops.ends_at(program, alive, calls, e);
        let ends = blocks.iter().map(|block| match block.end {
            End::Branch { then_edge, else_edge } => ends_at(then_edge) || ends_at(else_edge),
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

/// The blocks, and the number of each by its first location.
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
    // The locations of the function in depth-first order, and which of them start blocks.
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
            match program.locs[at].out {
                Out::Branch { then_edge, else_edge } => break End::Branch { then_edge, else_edge },
                Out::Sink => break End::Stop,
                Out::One(id) => {
                    edges.push(id);
                    let edge = &program.edges[id];
                    match edge.op {
                        Op::Return { .. } => break End::Return,
                        Op::Halt(_) | Op::Error(_) => break End::Stop,
                        _ if !alive.loc(edge.target) => break End::Stop,
                        _ if may_stop(id) => break End::Call(id),
                        _ => at = edge.target,
                    }
                    if leads.contains_key(&at) {
                        break End::Goto;
                    }
                }
            }
        };
        blocks.push(Block { first, edges, end });
    }
    (blocks, number)
}

/// Whether the program may end, or go on for ever, in a function or its callees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Stop {
    Never,
    /// Only at errors, or in criteria that do not return.
    AtCriterion,
    /// Or elsewhere, or where no criterion can be reached any more.
    Otherwise,
}

pub struct Stops {
    of: Vec<Stop>,
    criteria: FxHashSet<EdgeId>,
}

impl Stops {
    /// Loops are taken to end if they can without a criterion, or always if `control` is standard.
    pub fn new(
        program: &Program,
        alive: &Alive,
        calls: &CallGraph,
        control: Control,
        criteria: FxHashSet<EdgeId>,
    ) -> Self {
        let mut this = Self { of: vec![Stop::Never; program.funcs.len()], criteria };
        // From the entry of a function that is dead, no criterion can be reached, nor does it return to one.
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
            if self.of[f.index()] < stop {
                self.of[f.index()] = stop;
                for &call in calls.callers(f) {
                    let stop = if self.criteria.contains(&call) { Stop::AtCriterion } else { stop };
                    work.push((program.func_of(call), stop));
                }
            }
        }
    }

    /// The functions with loops that may not end: those that cannot be left but at a criterion; or all.
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
        let on_cycle = |e: &Edge| components.of(e.source.0) == components.of(e.target.0);
        let loops = program.edges.values().filter(|e| alive.loc(e.source) && on_cycle(e));
        loops
            .filter(|e| control != Control::Standard || !leaves[e.source.index()])
            .map(|e| (program.locs[e.source].func, Stop::Otherwise))
            .collect()
    }

    pub fn call(&self, calls: &CallGraph, call: EdgeId) -> Stop {
        let callees = calls.callees(call);
        let stop = callees.iter().map(|f| self.of[f.index()]).max().unwrap_or(Stop::Otherwise);
        if self.criteria.contains(&call) { stop.min(Stop::AtCriterion) } else { stop }
    }
    /// Whether the function is left at the edge, or no criterion can be reached from there any more. Not at errors and
    /// at criteria that do not return, which are what one hopes for in vain.
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
