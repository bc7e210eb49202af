//! Control-flow automata and call graphs in DOT, the language of Graphviz.

use crate::blocks::{BlockEdge, Next, blocks};
use crate::callgraph::CallGraph;
use crate::graph::CfaGraphs;
use crate::program::*;
use crate::text;
use std::fmt::Write;

/// Draws the automaton of a function, as far as its entry reaches.
///
/// A box is a basic block. Its lines are the operations, each with its source line. An edge between boxes shows its
/// condition: green if the condition is true, red if it is false. Loop heads have a double frame. Errors are red.
/// Approximations are yellow.
pub fn function(p: &Program, func: FuncId) -> String {
    let graphs = CfaGraphs::new(p);
    let mut out = String::new();
    header(&mut out, &p.funcs[func].name);
    draw(&mut out, p, &graphs, func, "");
    out += "}\n";
    out
}

/// Draws the automata of all functions that the program's entry reaches, one cluster for each.
pub fn program(p: &Program) -> String {
    let (graphs, calls) = (CfaGraphs::new(p), CallGraph::new(p));
    let mut out = String::new();
    header(&mut out, "program");
    for (id, func) in p.funcs.iter().filter(|(id, _)| calls.is_reachable(*id)) {
        let _ = writeln!(out, "  subgraph cluster_{id} {{\n    label={}; color=gray;", quoted(&func.name));
        draw(&mut out, p, &graphs, id, "  ");
        out += "  }\n";
    }
    out += "}\n";
    out
}

/// Draws the call graph, as far as the program's entry reaches. Calls through pointers share one node. Library models
/// are dashed. Undefined functions are dotted.
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

fn draw(out: &mut String, p: &Program, graphs: &CfaGraphs, func: FuncId, indent: &str) {
    let text = |edge: EdgeId| Some(text::c_operation(p, &p.edges[edge].op));
    for block in blocks(p, graphs, func, &text) {
        let mut style = if block.is_loop_head { ", peripheries=2" } else { "" }.to_owned();
        let ops = || block.steps.iter().map(|s| &p.edges[s.edge].op);
        if ops().any(|op| matches!(op, Op::Error(_))) {
            style += ", color=red, fontcolor=red";
        } else if ops().any(|op| matches!(op, Op::Approx { .. })) {
            style += ", style=filled, fillcolor=lightyellow";
        }
        let label: String = block.steps.iter().map(|step| line(p, step)).collect();
        let _ = writeln!(out, "{indent}  {} [label={}{style}];", block.start, quoted(&label));
        for Next { start, condition } in &block.next {
            let style = condition.as_ref().map_or_else(String::new, |(text, branch)| {
                let color = if *branch { "darkgreen" } else { "red" };
                format!(" [label={}, color={color}, fontcolor={color}]", quoted(&shortened(text)))
            });
            let _ = writeln!(out, "{indent}  {} -> {start}{style};", block.start);
        }
    }
}

/// One line of a block: the source line and the operation.
fn line(p: &Program, step: &BlockEdge) -> String {
    let line = step.place.map(|place| p.places[place].line).filter(|&line| line > 0);
    let line = line.map_or(String::new(), |line| format!("{line}: "));
    format!("{line}{}\n", shortened(&step.text))
}

/// Cuts a long text, so that the box stays readable.
fn shortened(text: &str) -> String {
    const MAX: usize = 90;
    match text.char_indices().nth(MAX) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.to_owned(),
    }
}

/// A DOT string with left-aligned lines.
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
    use crate::text;

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
