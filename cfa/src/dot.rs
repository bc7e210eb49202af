//! Pictures: control-flow automata and call graphs in the language of Graphviz.

use crate::callgraph::CallGraph;
use crate::graph::{CfaGraphs, FuncGraph};
use crate::loops::LoopForest;
use crate::program::*;
use crate::source::PlaceId;
use crate::text;
use std::fmt::Write;

/// The automaton of a function as far as its entry reaches.
///
/// A box is a stretch of locations that are only entered at its top, with what its edges do, each after its
/// source line. Edges between boxes carry conditions: green if true, red if false. Loop heads have a double
/// frame, errors are red, approximations yellow.
pub fn function(p: &Program, func: FuncId) -> String {
    let graphs = CfaGraphs::new(p);
    let mut out = String::new();
    header(&mut out, &p.funcs[func].name);
    let drawing = Drawing { p, graph: &graphs.funcs[func], graphs: &graphs };
    drawing.blocks(&mut out, "").expect("a string takes all text");
    out += "}\n";
    out
}

/// The automata of all functions that the program's entry reaches, each in its frame.
pub fn program(p: &Program) -> String {
    let (graphs, calls) = (CfaGraphs::new(p), CallGraph::new(p));
    let mut out = String::new();
    header(&mut out, "program");
    for (id, func) in p.funcs.iter().filter(|(id, _)| calls.is_reachable(*id)) {
        let _ = writeln!(out, "  subgraph cluster_{id} {{\n    label={}; color=gray;", quoted(&func.name));
        let drawing = Drawing { p, graph: &graphs.funcs[id], graphs: &graphs };
        drawing.blocks(&mut out, "  ").expect("a string takes all text");
        out += "  }\n";
    }
    out += "}\n";
    out
}

/// Who calls whom, as far as the program's entry reaches. Calls through pointers go through one node. Models of
/// library functions are dashed, undefined functions dotted.
pub fn call_graph(p: &Program) -> String {
    let calls = CallGraph::new(p);
    let graph = calls.graph();
    let reachable = graph.reachable([p.entry.0]);
    let mut out = String::new();
    header(&mut out, "calls");
    for node in graph.nodes().filter(|&n| reachable[n as usize]) {
        let id = FuncId(node);
        let (label, style) = match p.funcs.get(id) {
            None => ("calls through pointers", "shape=diamond, color=gray"),
            Some(f) => {
                let style = match f.origin {
                    FunctionOrigin::Source if calls.is_recursive(id) => "peripheries=2",
                    FunctionOrigin::Source => "style=solid",
                    FunctionOrigin::Model => "style=dashed",
                    FunctionOrigin::Undefined => "style=dotted",
                };
                (f.name.as_str(), style)
            }
        };
        let _ = writeln!(out, "  n{node} [label={}, {style}];", quoted(label));
        for successor in graph.successors(node) {
            let _ = writeln!(out, "  n{node} -> n{successor};");
        }
    }
    out += "}\n";
    out
}

fn header(out: &mut String, name: &str) {
    let _ = writeln!(out, "digraph {} {{", quoted(name));
    *out += "  node [shape=box, fontname=monospace, fontsize=10];\n  edge [fontname=monospace, fontsize=10];\n";
}

struct Drawing<'p> {
    p: &'p Program,
    graph: &'p FuncGraph,
    graphs: &'p CfaGraphs,
}

impl Drawing<'_> {
    fn blocks(&self, out: &mut String, indent: &str) -> std::fmt::Result {
        if self.graph.graph.is_empty() {
            return Ok(());
        }
        let loops = LoopForest::new(&self.graph.graph, 0);
        for start in self.graph.graph.nodes().filter(|&n| self.starts_block(n)) {
            let head = if loops.is_head(start) { ", peripheries=2" } else { "" };
            self.block(out, indent, start, head)?;
        }
        Ok(())
    }

    /// Whether a node is entered in another way than from the only edge of another.
    fn starts_block(&self, node: u32) -> bool {
        match *self.graph.graph.predecessors(node) {
            [only] => node == 0 || matches!(self.out(only), Out::Branch { .. }),
            _ => true,
        }
    }
    fn out(&self, node: u32) -> Out {
        self.p.locs[self.graph.locs[node as usize]].out
    }
    fn node(&self, edge: EdgeId) -> u32 {
        self.graphs.node(self.p.edges[edge].target).expect("the target of a reachable edge is reachable")
    }

    fn block(&self, out: &mut String, indent: &str, start: u32, head: &str) -> std::fmt::Result {
        let name = |node: u32| self.graph.locs[node as usize];
        let mut label = String::new();
        let mut style = "";
        let mut node = start;
        loop {
            match self.out(node) {
                Out::Sink => break,
                Out::Branch { then_edge, else_edge } => {
                    for (edge, color) in [(then_edge, "darkgreen"), (else_edge, "red")] {
                        let target = name(self.node(edge));
                        let label = quoted(&shortened(text::c_operation(self.p, &self.p.edges[edge].op)));
                        let (from, style) = (name(start), format!("label={label}, color={color}, fontcolor={color}"));
                        writeln!(out, "{indent}  {from} -> {target} [{style}];")?;
                    }
                    self.line(&mut label, self.p.edges[then_edge].place, "branch");
                    break;
                }
                Out::One(id) => {
                    let edge = &self.p.edges[id];
                    match edge.op {
                        Op::Error(_) => style = ", color=red, fontcolor=red",
                        Op::Approx { .. } if style.is_empty() => style = ", style=filled, fillcolor=lightyellow",
                        _ => {}
                    }
                    if edge.op != Op::Skip {
                        self.line(&mut label, edge.place, &text::c_operation(self.p, &edge.op));
                    }
                    node = self.node(id);
                    if self.starts_block(node) {
                        writeln!(out, "{indent}  {} -> {};", name(start), name(node))?;
                        break;
                    }
                }
            }
        }
        writeln!(out, "{indent}  {} [label={}{head}{style}];", name(start), quoted(&label))
    }

    /// One line of a block: the source line and what is done.
    fn line(&self, label: &mut String, place: Option<PlaceId>, what: &str) {
        let line = place.map(|place| self.p.places[place].line).filter(|&line| line > 0);
        let line = line.map_or(String::new(), |line| format!("{line}: "));
        *label += &format!("{line}{}\n", shortened(what.to_owned()));
    }
}

/// At most so many characters that a box stays readable.
fn shortened(text: String) -> String {
    const MAX: usize = 90;
    match text.char_indices().nth(MAX) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

/// A string of the language, its lines flush left.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => quoted += "\\\"",
            '\\' => quoted += "\\\\",
            '\n' => quoted += "\\l",
            c if c.is_control() => quoted.push('?'),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &str = include_str!("../tests/golden/everything.cfa");

    #[test]
    fn pictures_of_everything() {
        let mut p = text::parse(GOLDEN).unwrap();
        let main = p.func_by_name("main").unwrap();
        let dot = function(&p, main);
        for piece in [
            "digraph \"main\" {",
            "l3 -> l4;",
            // The loop's head, with what it does up to the branch.
            "l4 [label=\"i = __VERIFIER_nondet_int()\\lodd name = i < limit && argc != -1\\lbranch\\l\", peripheries=2];",
            "l4 -> l7 [label=\"odd name\", color=darkgreen, fontcolor=darkgreen];",
            "l4 -> l12 [label=\"!odd name\", color=red, fontcolor=red];",
            "error: reach_error is called\\l\", color=red",
        ] {
            assert!(dot.contains(piece), "{piece} is not in\n{dot}");
        }
        let calls = call_graph(&p);
        for piece in
            ["n0 -> n1;", "n1 [label=\"main\", peripheries=2];", "n4 [label=\"calls through pointers\"", "n1 -> n4;"]
        {
            assert!(calls.contains(piece), "{piece} is not in\n{calls}");
        }
        p.funcs[main].name = "quote \" and \\ and\nline".into();
        assert!(call_graph(&p).contains(r#""quote \" and \\ and\lline""#));
        assert!(program(&p).contains("subgraph cluster_f1"));
    }
}
