//! Where the iteration keeps what it knows.

use cfa::graph::{CfaGraphs, Predecessors};
use cfa::loops::LoopForest;
use cfa::{CallGraph, Expr, FuncId, Id, LocId, Op, Out, Program, UnOp};
use rustc_hash::FxHashMap;

/// Operations before a return that are looked at once for each way that leads there.
const TAIL: usize = 24;

/// By location.
pub struct Nodes {
    /// Entries of functions, calls, heads of loops, and other places where paths join and do not part at once.
    pub is_node: Vec<bool>,
    /// Nodes where values are widened.
    pub widened: Vec<bool>,
    /// The order in which nodes are looked at: what a function gives back is known before its caller goes on, and what a loop comes to before
    /// what is behind it.
    pub rank: Vec<u32>,
    /// The same with callers before callees, for one look at each.
    pub downward: Vec<u32>,
}

impl Nodes {
    pub fn of(program: &Program, calls: &CallGraph) -> Self {
        let graphs = CfaGraphs::new(program);
        let predecessors = Predecessors::new(program);
        let n = program.locs.len();
        let mut is_node = vec![false; n];
        let mut widened = vec![false; n];
        for (loc, node) in program.locs.ids().zip(&mut is_node) {
            *node = predecessors.of(loc).len() > 1
                || matches!(program.locs[loc].out, Out::One(e) if matches!(program.edges[e].op, Op::Call { .. }));
        }
        let returning: Vec<LocId> =
            program.locs.ids().filter(|&loc| is_node[loc.index()] && only_returns(program, loc)).collect();
        let decisions: Vec<LocId> =
            program.locs.ids().filter(|&loc| is_node[loc.index()] && decides(program, loc)).collect();
        for &loc in &returning {
            is_node[loc.index()] = false;
        }
        for &loc in &decisions {
            is_node[loc.index()] = false;
        }
        for edge in decisions.iter().flat_map(|&loc| program.out_edges(loc)) {
            is_node[program.edges[edge].target.index()] = true;
        }
        let functions = calls.graph().depth_first([program.entry.0]);
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

/// Whether nothing but returning is done from a place on: the ways that come together there are told apart by what is returned.
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

/// Whether all that is done at a place is to branch on one bit, as behind `a && b`: the ways that come together there part again at once, and
/// each knows more by itself.
fn decides(program: &Program, loc: LocId) -> bool {
    let Out::Branch { then_edge, .. } = program.locs[loc].out else { return false };
    let Op::Assume { cond, .. } = program.edges[then_edge].op else { return false };
    let mut bit = cond;
    if let Expr::Unary(UnOp::Not, inner) = *program.exprs.get(bit) {
        bit = inner;
    }
    matches!(*program.exprs.get(bit), Expr::Var(var) if program.vars[var].width == 1 && program.vars[var].func().is_some())
}
