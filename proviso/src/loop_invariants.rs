//! What a proof says of loops, in terms of C.
//!
//! A slice leaves out assignments whose values nobody reads, so a condition of the slice holds of the program only as far
//! as it speaks of variables that are read before they are written again: of live ones.

use crate::report::{Condition, LoopInvariant};
use crate::source::{Sources, Spot};
use cfa::graph::{CfaGraphs, FuncGraph};
use cfa::loops::LoopForest;
use cfa::text::c_exact;
use cfa::{EdgeId, ExprId, FuncId, FunctionOrigin, LocId, Op, Program, VarId};
use engine::proof::Certificate;
use rustc_hash::{FxHashMap, FxHashSet};

/// The invariants of a certificate for `program` that exact C conditions over live variables can say.
pub fn collect(program: &Program, certificate: &Certificate, sources: &Sources) -> Vec<LoopInvariant> {
    let graphs = CfaGraphs::new(program);
    let mut by_function: FxHashMap<FuncId, Vec<LocId>> = FxHashMap::default();
    for &head in certificate.heads.keys() {
        by_function.entry(program.locs[head].func).or_default().push(head);
    }
    let mut functions: Vec<_> = by_function.into_iter().collect();
    functions.sort_unstable();
    let mut all = Vec::new();
    for (func, heads) in functions {
        if program.funcs[func].origin == FunctionOrigin::Source {
            let graph = &graphs.funcs[func];
            let function = Function { program, func, graph, live: live(program, graph, &graphs), sources };
            all.extend(function.invariants(&heads, &graphs, certificate));
        }
    }
    all
}

struct Function<'a> {
    program: &'a Program,
    func: FuncId,
    graph: &'a FuncGraph,
    /// By node: variables read on some way before they are written.
    live: Vec<FxHashSet<VarId>>,
    sources: &'a Sources,
}

impl Function<'_> {
    fn invariants(&self, heads: &[LocId], graphs: &CfaGraphs, certificate: &Certificate) -> Vec<LoopInvariant> {
        let forest = LoopForest::new(&self.graph.graph, 0);
        let mut found: Vec<LoopInvariant> = Vec::new();
        // Inner loops first: places that an inner loop claims are none of the outer's.
        for (number, l) in forest.loops().iter().enumerate().rev() {
            let head = self.graph.locs[l.head as usize];
            if !heads.contains(&head) || graphs.node(head) != Some(l.head) {
                continue;
            }
            let conditions: Vec<Condition> =
                certificate.heads[&head].iter().filter_map(|&e| self.condition(certificate, e, l.head)).collect();
            let spots = self.spots(head, l.head, &forest.body(number as u32));
            if !conditions.is_empty() && !spots.is_empty() {
                let function = self.program.funcs[self.func].name.clone();
                found.push(LoopInvariant { spots, function, conditions });
            }
        }
        found
    }

    /// Where the head is: of the ways back to it, then of what happens there.
    fn spots(&self, head: LocId, node: u32, body: &[u32]) -> Vec<Spot> {
        let program = self.program;
        let back = body.iter().filter(|&&n| self.graph.graph.successors(n).contains(&node));
        let back = back.flat_map(|&n| program.out_edges(self.graph.locs[n as usize]));
        let back = back.filter(|&e| program.edges[e].target == head);
        let edges: Vec<EdgeId> = back.chain(program.out_edges(head)).collect();
        edges.iter().filter_map(|&e| self.sources.spot(program, program.edges[e].place?)).collect()
    }

    fn condition(&self, certificate: &Certificate, e: ExprId, node: u32) -> Option<Condition> {
        let vars = certificate.pool.vars(e);
        let live = &self.live[node as usize];
        if vars.is_empty() || !vars.iter().all(|v| live.contains(v) && self.is_unambiguous(*v)) {
            return None;
        }
        let text = c_exact(self.program, &certificate.pool, e, &|v| vars.contains(&v))?;
        let declared = |v: &VarId| self.sources.spot(self.program, self.program.vars[*v].place?);
        let declared = vars.iter().map(declared).collect::<Option<Vec<_>>>()?;
        Some(Condition { text, declared })
    }

    /// Whether the name means this variable wherever it is in scope in this function.
    fn is_unambiguous(&self, var: VarId) -> bool {
        let vars = &self.program.vars;
        let here = |v: &cfa::Var| v.func().is_none_or(|f| f == self.func);
        vars[var].name.is_some() && vars.values().filter(|v| v.name == vars[var].name && here(v)).count() == 1
    }
}

/// By node, variables that are surely read before they are written on some way on. What calls read does not count.
fn live(program: &Program, graph: &FuncGraph, graphs: &CfaGraphs) -> Vec<FxHashSet<VarId>> {
    let mut live: Vec<FxHashSet<VarId>> = vec![FxHashSet::default(); graph.locs.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for node in (0..graph.locs.len()).rev() {
            let mut set = FxHashSet::default();
            for edge in program.out_edges(graph.locs[node]) {
                let edge = &program.edges[edge];
                let target = graphs.node(edge.target).map(|n| n as usize);
                let is_call = matches!(edge.op, Op::Call { .. });
                let survives =
                    |v: &&VarId| Some(**v) != edge.op.def() && !(is_call && program.vars[**v].func().is_none());
                set.extend(target.iter().flat_map(|&t| live[t].iter().filter(survives)));
                edge.op.for_each_expr(|e| set.extend(program.exprs.vars(e)));
            }
            if set.len() > live[node].len() {
                live[node] = set;
                changed = true;
            }
        }
    }
    live
}
