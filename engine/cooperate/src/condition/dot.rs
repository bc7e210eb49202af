//! Conditions in the DOT language.

use super::{Condition, Label, text};
use cfa::Program;
use std::fmt::Write;

impl Condition {
    /// The automaton in the language of Graphviz. Accepting states have double circles. Transitions for all other edges
    /// are grey.
    pub fn dot(&self, program: &Program) -> String {
        let mut out = String::from(
            "digraph condition {\n  node [shape=circle, fontname=monospace];\n  edge [fontname=monospace];\n",
        );
        let _ = writeln!(out, "  start [shape=point]; start -> {};", self.initial);
        for (id, state) in self.states.iter() {
            if state.accepting {
                let _ = writeln!(
                    out,
                    "  {id} [shape=doublecircle{}];",
                    if state.with_rest { ", style=dashed" } else { "" }
                );
            }
            for t in &state.transitions {
                let (label, color) = match &t.on {
                    Label::Others => ("*".to_owned(), ", color=gray, fontcolor=gray"),
                    Label::Edges(edges) => match **edges {
                        [edge] => (text::describe(edge, t.assumption, program), ""),
                        _ => (format!("{} edges", edges.len()), ""),
                    },
                };
                let label = label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ");
                let _ = writeln!(out, "  {id} -> {} [label=\"{label}\"{color}];", t.to);
            }
        }
        out + "}\n"
    }
}
