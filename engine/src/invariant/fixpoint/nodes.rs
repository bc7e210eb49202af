//! The nodes: the locations at which the iteration stores environments.

use crate::invariant::memory::relations::variables;
use cfa::graph::{CfaGraphs, Predecessors};
use cfa::loops::LoopForest;
use cfa::{CallGraph, EdgeId, Expr, ExprId, Family, FuncId, Id, LocId, Op, Out, Program, UnOp, VarId};
use rustc_hash::FxHashMap;

/// Largest number of operations before a return that are interpreted separately for each path to it.
const TAIL: usize = 24;

/// The nodes and the orders of their iteration.
pub struct Nodes {
    /// By location: true for function entries, calls, loop heads, and joins that do not branch immediately.
    pub is_node: Vec<bool>,
    /// By location: true for nodes where the analysis widens.
    pub widened: Vec<bool>,
    /// By location: the iteration order. Callees precede the code after their calls, and loops precede the code after
    /// them.
    pub rank: Vec<u32>,
    /// By location: the order of the descending iteration, with callers before callees.
    pub downward: Vec<u32>,
}

impl Nodes {
    /// Computes the nodes of a program.
    pub fn compute(program: &Program, calls: &CallGraph) -> Self {
        let graphs = CfaGraphs::new(program);
        let predecessors = Predecessors::new(program);
        let n = program.locs.len();
        let mut is_node = vec![false; n];
        let mut widened = vec![false; n];
        for (loc, node) in program.locs.ids().zip(&mut is_node) {
            *node = predecessors.edges_into(loc).len() > 1
                || matches!(program.locs[loc].out, Out::One(e) if matches!(program.edges[e].op, Op::Call { .. }));
        }
        let returning: Vec<LocId> =
            program.locs.ids().filter(|&loc| is_node[loc.index()] && only_returns(program, loc)).collect();
        let decisions: Vec<LocId> =
            program.locs.ids().filter(|&loc| is_node[loc.index()] && decides(program, loc)).collect();
        for &loc in &returning {
            is_node[loc.index()] = false;
        }
        let decided: Vec<LocId> =
            program.locs.ids().filter(|&loc| is_node[loc.index()] && is_decided(program, &predecessors, loc)).collect();
        for &loc in decisions.iter().chain(&decided) {
            is_node[loc.index()] = false;
        }
        for edge in decisions.iter().flat_map(|&loc| program.out_edges(loc)) {
            is_node[program.edges[edge].target.index()] = true;
        }
        let roots = std::iter::once(program.entry).chain(calls.address_taken().iter().copied());
        let functions = calls.graph().depth_first(roots.map(|func| func.0));
        let mut orders: FxHashMap<u32, Vec<LocId>> = FxHashMap::default();
        for &func in &functions.preorder {
            let Some(graph) = graphs.funcs.get(FuncId(func)) else { continue };
            let forest = LoopForest::new(&graph.graph, 0);
            orders.insert(func, forest.order(&graph.graph, 0).iter().map(|&node| graph.locs[node as usize]).collect());
            let entry = program.funcs[FuncId(func)].entry;
            is_node[entry.index()] = true;
            widened[entry.index()] = calls.is_recursive(FuncId(func));
            for l in forest.loops() {
                let head = graph.locs[l.head as usize];
                is_node[head.index()] = true;
                widened[head.index()] = true;
            }
        }
        let ranked = |functions: &[u32]| {
            let mut rank = vec![u32::MAX; n];
            let locs = functions.iter().filter_map(|func| orders.get(func)).flatten();
            locs.zip(0..).for_each(|(loc, next)| rank[loc.index()] = next);
            rank
        };
        let (rank, downward) = (ranked(&functions.postorder), ranked(&functions.preorder));
        Self { is_node, widened, rank, downward }
    }
}

/// True if a branch follows `loc` soon, and tests a variable that is a constant on one of the joined paths: the null of
/// an allocation that failed, or the destination of a `return` out of a scope. Such a join is no node, because its paths
/// separate again.
fn is_decided(program: &Program, predecessors: &Predecessors, loc: LocId) -> bool {
    let Some(var) = tested_after(program, loc) else { return false };
    predecessors.edges_into(loc).iter().any(|&edge| is_constant_before(program, predecessors, edge, var))
}

/// The only variable, at `loc`, of the condition of a branch that follows soon.
fn tested_after(program: &Program, mut loc: LocId) -> Option<VarId> {
    let mut copies: Vec<(VarId, ExprId)> = Vec::new();
    for _ in 0..TAIL {
        match program.locs[loc].out {
            Out::Sink => return None,
            Out::Branch { then_edge, .. } => {
                let Op::Assume { cond, .. } = program.edges[then_edge].op else { return None };
                let only = |e: ExprId| {
                    let mut found = variables(&program.exprs, e);
                    found.next().filter(|first| found.all(|other| other == *first))
                };
                let mut var = only(cond)?;
                for (copy, value) in copies.into_iter().rev() {
                    var = if copy == var { only(value)? } else { var };
                }
                return Some(var).filter(|&var| program.vars[var].func().is_some());
            }
            Out::One(edge) => {
                match program.edges[edge].op {
                    Op::Assign { var, value } => copies.push((var, value)),
                    Op::Skip | Op::Free { family: Family::Scope, .. } => {}
                    _ => return None,
                }
                loc = program.edges[edge].target;
            }
        }
    }
    None
}

/// True if an edge, or one shortly before it, assigns a constant to a variable.
fn is_constant_before(program: &Program, predecessors: &Predecessors, mut edge: EdgeId, var: VarId) -> bool {
    for _ in 0..TAIL {
        match program.edges[edge].op {
            Op::Assign { var: assigned, value } if assigned == var => return program.exprs.as_const(value).is_some(),
            ref op if op.def() == Some(var) => return false,
            _ => {}
        }
        edge = match predecessors.edges_into(program.edges[edge].source)[..] {
            [before] => before,
            _ => return false,
        };
    }
    false
}

/// True if only operations up to a return of a value follow `loc`. Such a join is no node, so the paths are
/// distinguished by their return values.
fn only_returns(program: &Program, mut loc: LocId) -> bool {
    for _ in 0..TAIL {
        let Out::One(edge) = program.locs[loc].out else { return false };
        match program.edges[edge].op {
            Op::Return { value } => return value.is_some(),
            Op::Call { .. } => return false,
            _ => loc = program.edges[edge].target,
        }
    }
    false
}

/// True if `loc` only branches on one bit, as after `a && b`. Such a join is no node: its paths separate again
/// immediately, and each path is more precise alone.
fn decides(program: &Program, loc: LocId) -> bool {
    let Out::Branch { then_edge, .. } = program.locs[loc].out else { return false };
    let Op::Assume { cond, .. } = program.edges[then_edge].op else { return false };
    let mut bit = cond;
    if let Expr::Unary(UnOp::Not, inner) = *program.exprs.get(bit) {
        bit = inner;
    }
    matches!(*program.exprs.get(bit), Expr::Var(var) if program.vars[var].width == 1 && program.vars[var].func().is_some())
}
