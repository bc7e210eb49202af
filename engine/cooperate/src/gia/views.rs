//! GIAs in the DOT language and as JSON.

use super::{Gia, Says};
use crate::condition::Label;
use crate::condition::text::describe;
use cfa::{EdgeId, Program};
use serde_json::{Value, json};
use std::fmt::Write;

/// The automaton in the language of Graphviz, in the colours of the paper: `F_ut` green, `F_rt` blue, `F_cand` yellow.
pub fn dot(gia: &Gia, program: &Program) -> String {
    let quoted = |text: String| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
    let mut out = String::from(
        "digraph gia {\n  node [shape=circle, fontname=monospace];\n  edge [fontname=monospace];\n  start [shape=point];\n",
    );
    let _ = writeln!(out, "  start -> {};", gia.initial);
    for (id, state) in gia.states.iter() {
        let color = match state.says {
            None => "white",
            Some(Says::Unreachable) => "palegreen",
            Some(Says::Reachable) => "lightblue",
            Some(Says::Candidate) => "khaki",
        };
        let shape = if state.says.is_some() { "doublecircle" } else { "circle" };
        let invariant =
            state.invariant.map(|e| format!("\\n{}", quoted(cfa::text::c_expr(program, &program.exprs, e))));
        let label = format!("{id}{}", invariant.unwrap_or_default());
        let _ = writeln!(out, "  {id} [shape={shape}, style=filled, fillcolor={color}, label=\"{label}\"];");
        for t in &state.transitions {
            let (label, color) = match &t.on {
                Label::Others => ("*".to_owned(), ", color=gray, fontcolor=gray"),
                Label::Edges(edges) => match **edges {
                    [edge] => (describe(edge, t.assumption, program), ""),
                    _ => (format!("{} edges", edges.len()), ""),
                },
            };
            let _ = writeln!(out, "  {id} -> {} [label=\"{}\"{color}];", t.to, quoted(label));
        }
    }
    out + "}\n"
}

/// The automaton as JSON. Edges have their numbers and source places; conditions are C.
pub fn json(gia: &Gia, program: &Program) -> Value {
    let c = |e| cfa::text::c_expr(program, &program.exprs, e);
    let edge = |&e: &EdgeId| {
        let place = program.edges[e].place.map(|p| program.places[p]);
        let file = place.map(|p| program.files[p.file].path.clone());
        json!({
            "edge": e.0,
            "file": file,
            "line": place.map(|p| p.line),
            "column": place.map(|p| p.column),
            "operation": cfa::text::c_operation(program, &program.edges[e].op),
        })
    };
    let states: Vec<Value> = gia
        .states
        .iter()
        .map(|(id, state)| {
            let transitions: Vec<Value> = state
                .transitions
                .iter()
                .map(|t| {
                    let edges = match &t.on {
                        Label::Others => json!("others"),
                        Label::Edges(edges) => edges.iter().map(edge).collect(),
                    };
                    json!({ "edges": edges, "condition": t.assumption.map(c), "to": t.to.to_string() })
                })
                .collect();
            json!({
                "name": id.to_string(),
                "says": state.says.map(Says::name),
                "invariant": state.invariant.map(c),
                "transitions": transitions,
            })
        })
        .collect();
    json!({ "initial": gia.initial.to_string(), "states": states })
}
