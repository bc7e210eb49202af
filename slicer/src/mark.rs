//! Context-sensitive backward reachability in the system dependence graph.
//!
//! Horwitz, Reps and Binkley walk the graph in two phases: up into callers, then down into callees. Here one walk does
//! both, with nodes in two ranks. A node of the *first* rank matters in every context, so the walk continues at all
//! calls of its function. A node of the *second* rank matters only to calls that are already in the slice and whose
//! outputs led the walk into the function. Other calls of the function stay outside.
//!
//! The slice is an executable program (Binkley: *Precise executable interprocedural slices*, 1993). If a function in
//! the slice reads an input, all its calls in the slice supply that input. If a callee leaves a cell unchanged, the
//! walk follows the cell at the call, and the callee's nodes have the rank *passing*. So the graph needs no summary
//! edges: the walk inside the callee finds the inputs that an output depends on. The walk visits every node at most
//! once in each rank, so a slice takes time linear in the graph.
//!
//! The walk is breadth-first, so the first reason of a node is a shortest one.

use crate::call_graph::CallGraph;
use crate::sdg::{NodeKind, Sdg};
use crate::sparse_set::SparseSet;
use cfa::graph::NONE;
use cfa::{EdgeId, FuncId, Id, Program};
use std::collections::VecDeque;

/// The reason for which a node is in the slice. Smaller values are stronger.
type Rank = u8;
const FIRST: Rank = 1;
const SECOND: Rank = 2;
/// Second rank, for a value that its function may leave unchanged.
const PASSING: Rank = 4;

/// A node in a rank.
type Ranked = (u32, Rank);

/// The nodes that the criteria depend on, with their ranks.
pub struct Marks {
    rank: Vec<Rank>,
    /// For each node and rank, the node that caused the mark; the node itself for criteria. Empty if no reasons were
    /// requested.
    causes: Vec<[Ranked; 3]>,
}

impl Marks {
    /// Returns true if the node is marked.
    pub fn contains(&self, node: u32) -> bool {
        self.rank[node as usize] != 0
    }
    /// A shortest path from a criterion to the node. Each node caused the mark of the next. `None` if the node is not
    /// marked. Requires marks with reasons.
    pub fn chain(&self, node: u32) -> Option<Vec<u32>> {
        let ranks = [FIRST, SECOND, PASSING].into_iter().filter(|r| self.rank[node as usize] & r != 0);
        ranks.map(|rank| self.chain_to((node, rank))).min_by_key(Vec::len)
    }
    fn chain_to(&self, mut at: Ranked) -> Vec<u32> {
        let mut chain = vec![at.0];
        loop {
            let cause = self.causes[at.0 as usize][slot(at.1)];
            if cause == at {
                chain.reverse();
                return chain;
            }
            at = cause;
            chain.push(at.0);
        }
    }

    /// Marks all nodes that `criteria` depend on, and those that `complete` depend on in the calls that are marked. If
    /// `reasons` is set, [`chain`](Self::chain) works afterwards.
    pub fn backward(
        program: &Program,
        sdg: &Sdg,
        calls: &CallGraph,
        criteria: &[u32],
        complete: &[u32],
        whole: &Whole,
        reasons: bool,
    ) -> Self {
        let nodes = sdg.kinds.len();
        let causes = if reasons { vec![[(NONE, 0); 3]; nodes] } else { Vec::new() };
        let mut walk = Walk {
            sdg,
            calls,
            marks: Self { rank: vec![0; nodes], causes },
            work: VecDeque::new(),
            present: (NONE, 0),
            preserved: flags(program, &whole.preserved),
            atomic: flags(program, &whole.atomic),
            called_back: SparseSet::new(),
        };
        for (nodes, rank) in [(criteria, FIRST), (complete, SECOND)] {
            for &node in nodes {
                walk.present = (node, rank);
                walk.mark(node, rank);
            }
        }
        while let Some(next) = walk.work.pop_front() {
            walk.present = next;
            walk.visit(next.0, next.1);
        }
        walk.marks
    }
}

/// The strongest of a node's ranks. The node has at least one.
fn strongest(ranks: Rank) -> Rank {
    ranks & ranks.wrapping_neg()
}
fn slot(rank: Rank) -> usize {
    rank.trailing_zeros() as usize
}

/// A backward traversal of the dependence graph.
struct Walk<'a> {
    sdg: &'a Sdg,
    calls: &'a CallGraph,
    marks: Marks,
    work: VecDeque<Ranked>,
    /// The node that causes the marks at the moment.
    present: Ranked,
    /// By function, true if the function has to be kept whole and has not been marked yet.
    preserved: Vec<bool>,
    atomic: Vec<bool>,
    /// The atomic functions in the slice, and the functions that they may call, directly or indirectly.
    called_back: SparseSet,
}

/// Functions that are not sliced.
#[derive(Clone, Default)]
pub struct Whole {
    /// Functions whose whole body is in the slice if any of it is.
    pub preserved: Vec<FuncId>,
    /// Functions whose calls depend on everything that the function may read.
    pub atomic: Vec<FuncId>,
}

fn flags(program: &Program, funcs: &[FuncId]) -> Vec<bool> {
    let mut flags = vec![false; program.funcs.len()];
    funcs.iter().for_each(|f| flags[f.index()] = true);
    flags
}

impl Walk<'_> {
    fn mark(&mut self, node: u32, rank: Rank) {
        let have = &mut self.marks.rank[node as usize];
        if *have == 0 || rank < strongest(*have) {
            *have |= rank;
            self.work.push_back((node, rank));
            if let Some(causes) = self.marks.causes.get_mut(node as usize) {
                causes[slot(rank)] = self.present;
            }
        }
    }

    fn visit(&mut self, node: u32, rank: Rank) {
        let sdg = self.sdg;
        // An operation reads the values that it uses, so these are never only passing.
        let reading = rank.min(SECOND);
        match sdg.kinds[node as usize] {
            NodeKind::Entry(f) => {
                self.preserve(f);
                if rank == FIRST {
                    for &call in self.calls.callers(f) {
                        self.mark_op(call, FIRST);
                    }
                }
            }
            NodeKind::Op(e) => {
                self.mark_deps(node, reading);
                let callees = self.calls.callees(e);
                if !callees.is_empty() {
                    for &g in callees {
                        self.preserve(g);
                        if self.atomic[g.index()] {
                            self.supply_all(e, g, reading);
                        }
                    }
                    self.supply(node, reading);
                }
            }
            NodeKind::Control(_) | NodeKind::Argument(..) | NodeKind::Returned(_) | NodeKind::Observed(_) => {
                self.mark_deps(node, reading)
            }
            NodeKind::Weak(..) | NodeKind::Join(..) => self.follow(node, rank),
            NodeKind::In(..) if rank == PASSING => {}
            NodeKind::In(..) => self.supply_input(node),
            NodeKind::Out(_, cell) if cell >= sdg.cells.result() => self.mark_deps(node, SECOND),
            NodeKind::Out(..) => self.follow(node, rank),
            NodeKind::After(..) => {
                self.follow(node, rank);
                for &out in sdg.crossings.outputs(node) {
                    self.mark(out, PASSING);
                }
            }
            NodeKind::Unordered(_) | NodeKind::Gathered => self.mark_deps(node, FIRST),
        }
    }

    /// Marks the whole body of a function that the slice executes, if the function is to be preserved.
    fn preserve(&mut self, f: FuncId) {
        if !std::mem::take(&mut self.preserved[f.index()]) {
            return;
        }
        let result = self.sdg.cells.result();
        let (first, end) = self.sdg.nodes_of[f.index()];
        for node in first..end {
            match self.sdg.kinds[node as usize] {
                NodeKind::After(_, cell) if cell != result => {}
                NodeKind::Op(_) | NodeKind::Argument(..) | NodeKind::Returned(_) | NodeKind::After(..) => {
                    self.mark(node, SECOND);
                }
                _ => {}
            }
        }
    }

    fn mark_deps(&mut self, node: u32, rank: Rank) {
        for &on in self.sdg.deps.get(node) {
            self.mark(on, rank);
        }
    }
    /// Marks the definitions that a value of a cell may come from.
    fn follow(&mut self, node: u32, rank: Rank) {
        for &on in self.sdg.deps.get(node) {
            let is_value = matches!(
                self.sdg.kinds[on as usize],
                NodeKind::Weak(..) | NodeKind::Join(..) | NodeKind::In(..) | NodeKind::After(..)
            );
            self.mark(on, if is_value { rank } else { rank.min(SECOND) });
        }
    }
    fn mark_op(&mut self, edge: EdgeId, rank: Rank) {
        if let Some(op) = self.sdg.op(edge) {
            self.mark(op, rank);
        }
    }

    /// A call is in the slice: marks the values of those inputs that its callees read. The input is the cause.
    fn supply(&mut self, call: u32, rank: Rank) {
        let sdg = self.sdg;
        for supplied in sdg.crossings.of_call(call) {
            let read = self.marks.rank[supplied.input as usize] & (FIRST | SECOND);
            if read != 0 {
                let present = self.present;
                self.present = (supplied.input, strongest(read));
                self.mark(supplied.value, rank);
                self.present = present;
            }
        }
    }
    /// A callee reads an input: marks the value of that input at all calls in the slice.
    fn supply_input(&mut self, input: u32) {
        let sdg = self.sdg;
        for supplied in sdg.crossings.of_input(input) {
            let rank = self.marks.rank[supplied.call as usize];
            if rank != 0 {
                self.mark(supplied.value, strongest(rank));
            }
        }
    }
    /// A call of an atomic function: marks everything that the function may read. The functions that it may call in
    /// turn are preserved.
    fn supply_all(&mut self, call: EdgeId, callee: FuncId, rank: Rank) {
        let sdg = self.sdg;
        let inputs = sdg.op(call).into_iter().flat_map(|op| sdg.crossings.of_call(op));
        inputs.filter(|i| i.callee == callee).for_each(|i| self.mark(i.value, rank));
        sdg.arguments(call).iter().for_each(|&n| self.mark(n, rank));
        let mut work = vec![callee];
        while let Some(f) = work.pop() {
            if !self.called_back.insert(f.0) {
                continue;
            }
            if !self.atomic[f.index()] {
                self.preserve(f);
            }
            let (first, end) = sdg.nodes_of[f.index()];
            for node in first..end {
                if let NodeKind::Op(e) = sdg.kinds[node as usize] {
                    work.extend(self.calls.callees(e));
                }
            }
        }
    }
}
