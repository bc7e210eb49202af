//! Rule 9: locals are written before they are read.

use super::Validator;
use crate::graph::CfaGraphs;
use crate::index::{Id, Table};
use crate::program::*;
use rustc_hash::FxHashSet;

impl Validator<'_> {
    /// A liveness analysis for each variable. If a local is live at the entry of its function, some path reads it
    /// before any write. The cost is the sum of the live ranges.
    pub(super) fn reads(&mut self, graphs: &CfaGraphs) {
        let p = self.p;
        // For each local, the source locations of the edges that read it, in the order of the edges.
        let mut reads: Table<VarId, Vec<LocId>> = Table::filled(Vec::new(), p.vars.len());
        let mut vars = Vec::new();
        for edge in p.edges.values().filter(|e| graphs.node(e.source).is_some()) {
            vars.clear();
            let mut seen = FxHashSet::default();
            edge.op.for_each_expr(|root| {
                p.exprs.visit(root, &mut seen, |_, node| {
                    if let crate::expr::Expr::Var(v) = node {
                        vars.push(*v);
                    }
                });
            });
            for &v in &vars {
                if matches!(p.vars[v].kind, VarKind::Local(_) | VarKind::Temp(_)) {
                    reads[v].push(edge.source);
                }
            }
        }
        let mut is_varargs = vec![false; p.vars.len()];
        p.funcs.values().filter_map(|f| f.varargs).for_each(|v| is_varargs[v.index()] = true);
        // For each location, the last variable in whose live range it was found.
        let mut live = Table::filled(None, p.locs.len());
        let mut stack = Vec::new();
        for (var, reads) in reads.iter().filter(|(v, r)| !r.is_empty() && !is_varargs[v.index()]) {
            let func = p.vars[var].func().expect("a local");
            let (graph, entry) = (&graphs.funcs[func], p.funcs[func].entry);
            stack.clear();
            for &loc in reads {
                if live[loc].replace(var) != Some(var) {
                    stack.push(loc);
                }
            }
            while let Some(loc) = stack.pop() {
                let node = graphs.node(loc).expect("reachable");
                for &before in graph.graph.predecessors(node) {
                    let before = graph.locs[before as usize];
                    let passes =
                        p.out_edges(before).any(|e| p.edges[e].target == loc && p.edges[e].op.def() != Some(var));
                    if passes && live[before].replace(var) != Some(var) {
                        stack.push(before);
                    }
                }
            }
            let name = p.vars[var].name.as_deref().unwrap_or("a temporary");
            self.require(live[entry] != Some(var), var, || {
                format!("{name} may be read before it is written in {func}")
            });
        }
    }
}
