//! The dependences between operations, and their graph in the DOT language.

use crate::explain::{Dependence, DependenceKind};
use crate::modref::Cell;
use crate::sdg::NodeKind;
use crate::slice::Analysis;
use cfa::{EdgeId, FuncId, Id, Op};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

impl Analysis<'_> {
    /// Returns the dependences between operations, sorted. Nodes for joins of values are skipped. Calls connect a
    /// function with its callers: an operation that uses a parameter depends on the calls that pass it. The result may
    /// be much larger than the graph itself.
    pub fn dependences(&self) -> Vec<Dependence> {
        self.dependences_of(&vec![false; self.program.funcs.len()])
    }

    /// Like [`dependences`](Self::dependences), but without the operations in `closed` functions. A call of such a
    /// function is one operation that reads and writes what the function does.
    fn dependences_of(&self, closed: &[bool]) -> Vec<Dependence> {
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut work = Vec::new();
        for node in 0..self.sdg.kinds.len() as u32 {
            let Some(edge) = self.edge_of(node) else { continue };
            if closed[self.program.func_of(edge).index()] {
                continue;
            }
            seen.clear();
            if self.sdg.kinds[node as usize] == NodeKind::Op(edge) {
                for input in self.sdg.crossings.of_call(node).filter(|i| closed[i.callee.index()]) {
                    let cell = match self.sdg.kinds[input.input as usize] {
                        NodeKind::In(_, cell) => Some(cell),
                        _ => None,
                    };
                    work.push((input.value, self.kind(input.value, cell)));
                }
            }
            self.next(node, true, |n, cell| work.push((n, self.kind(n, cell))));
            while let Some((n, kind)) = work.pop() {
                let on = self.edge_of(n);
                if on.is_some_and(|on| closed[self.program.func_of(on).index()]) {
                    continue;
                }
                if let Some(on) = on.filter(|&on| on != edge) {
                    found.push(Dependence { edge, on, kind: kind.unwrap_or_else(|| self.direct(edge, on)) });
                }
                // An older value may pass a call.
                if self.edge_of(n).is_some() && !matches!(self.sdg.kinds[n as usize], NodeKind::After(..)) {
                    continue;
                }
                if seen.insert((n, kind)) {
                    self.next(n, false, |n, cell| {
                        let entry = matches!(self.sdg.kinds[n as usize], NodeKind::Entry(_));
                        work.push((n, kind.filter(|_| !entry).or_else(|| self.kind(n, cell))));
                    });
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the dependences in the language of Graphviz. Operations are grouped by function. Data dependences are
    /// black, control dependences blue, calls green. If `only` is given, the graph has only the edges for which it is
    /// true. The graph has no operations inside atomic functions.
    pub fn dot(&self, only: Option<&[bool]>) -> String {
        let mut closed = vec![false; self.program.funcs.len()];
        // The entry function only calls the program with its arguments. It is not part of the user's code.
        self.whole.atomic.iter().chain([&self.program.entry]).for_each(|f| closed[f.index()] = true);
        let drawn = |e: EdgeId| {
            let is_operation = self.program.edges[e].op != Op::Skip && !closed[self.program.func_of(e).index()];
            is_operation && only.is_none_or(|only| only[e.index()])
        };
        let dependences: Vec<_> =
            self.dependences_of(&closed).into_iter().filter(|d| drawn(d.edge) && drawn(d.on)).collect();
        let mut by_function: BTreeMap<FuncId, Vec<EdgeId>> = BTreeMap::new();
        for (e, edge) in self.program.edges.iter() {
            // One node represents both edges of a branch.
            let second = matches!(edge.op, Op::Assume { branch: false, .. });
            if drawn(e) && !second && self.sdg.op(e).is_some() {
                by_function.entry(self.program.func_of(e)).or_default().push(e);
            }
        }
        let mut out = String::from("digraph dependences {\n  node [shape=box, fontname=monospace];\n");
        for (f, edges) in by_function {
            let name = &self.program.funcs[f].name;
            let _ = writeln!(out, "  subgraph cluster_{f} {{\n    label={}; color=gray;", quoted(name));
            for e in edges {
                let edge = &self.program.edges[e];
                let mut label = cfa::text::c_operation(self.program, &edge.op);
                if let Some(place) = edge.place {
                    label = format!("{}: {label}", self.program.places[place].line);
                }
                let _ = writeln!(out, "    {e} [label={}];", quoted(&label));
            }
            out += "  }\n";
        }
        let mut arrows = BTreeSet::new();
        for d in dependences {
            let style = match d.kind {
                DependenceKind::Data(datum) => format!("label={}", quoted(&self.name_of(datum))),
                DependenceKind::Control => "color=blue".into(),
                DependenceKind::Returns => "color=blue, style=dashed".into(),
                DependenceKind::Call => "color=darkgreen".into(),
            };
            arrows.insert((self.drawn_as(d.edge), self.drawn_as(d.on), style));
        }
        for (from, to, style) in arrows {
            let _ = writeln!(out, "  {from} -> {to} [{style}];");
        }
        out += "}\n";
        out
    }

    fn drawn_as(&self, e: EdgeId) -> EdgeId {
        match self.program.locs[self.program.edges[e].source].out {
            cfa::Out::Branch { then_edge, .. } => then_edge,
            _ => e,
        }
    }
    fn edge_of(&self, node: u32) -> Option<EdgeId> {
        match self.sdg.kinds[node as usize] {
            NodeKind::Op(e) | NodeKind::Argument(e, _) | NodeKind::Returned(e) | NodeKind::After(e, _) => Some(e),
            _ => None,
        }
    }
    fn kind(&self, node: u32, cell: Option<Cell>) -> Option<DependenceKind> {
        cell.and_then(|c| self.of_cell(c)).or_else(|| self.passes(self.sdg.kinds[node as usize]))
    }

    /// Visits the nodes that a node depends on, in its function and across calls. The visitor also receives the cell
    /// that a call supplies. For an `After` node, `inside` selects the value that the callee writes; otherwise, the
    /// visitor gets the value that passes the call.
    fn next(&self, node: u32, inside: bool, mut visit: impl FnMut(u32, Option<Cell>)) {
        let sdg = &self.sdg;
        let passes = |n: &&u32| match sdg.kinds[node as usize] {
            NodeKind::After(call, _) => !inside && sdg.kinds[**n as usize] != NodeKind::Op(call),
            _ => true,
        };
        sdg.deps.get(node).iter().filter(passes).for_each(|&n| visit(n, None));
        match sdg.kinds[node as usize] {
            NodeKind::Entry(f) => self.calls.callers(f).iter().filter_map(|&c| sdg.op(c)).for_each(|n| visit(n, None)),
            NodeKind::After(..) if inside => sdg.crossings.outputs(node).iter().for_each(|&n| visit(n, None)),
            NodeKind::In(_, cell) => sdg.crossings.of_input(node).for_each(|i| visit(i.value, Some(cell))),
            _ => {}
        }
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
