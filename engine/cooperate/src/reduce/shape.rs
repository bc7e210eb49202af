//! The size and the shape of a program's graph.

use cfa::{CallGraph, Callee, LocId, Op, Program};
use rustc_hash::FxHashSet;
use std::fmt::Write;

/// The number of locations at each distance from the entry, following calls (Fig. 5 of the paper).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// The numbers of locations by distance.
    pub levels: Vec<usize>,
    /// The number of edges.
    pub edges: usize,
}

impl Shape {
    /// The shape of the reachable part of a program.
    pub fn compute(program: &Program) -> Self {
        let calls = CallGraph::new(program);
        let mut seen: FxHashSet<LocId> = FxHashSet::default();
        let start = program.funcs[program.entry].entry;
        seen.insert(start);
        let mut shape = Self { levels: Vec::new(), edges: 0 };
        let mut level = vec![start];
        while !level.is_empty() {
            shape.levels.push(level.len());
            let mut next = Vec::new();
            for &loc in &level {
                for edge in program.out_edges(loc) {
                    shape.edges += 1;
                    let edge_id = edge;
                    let edge = &program.edges[edge];
                    let callees = match edge.op {
                        Op::Call { callee: Callee::Direct(f), .. } => vec![f],
                        Op::Call { .. } => calls.callees(program, edge_id).as_slice().to_vec(),
                        _ => Vec::new(),
                    };
                    let entries = callees.into_iter().map(|f| program.funcs[f].entry);
                    next.extend(entries.chain([edge.target]).filter(|&l| seen.insert(l)));
                }
            }
            level = next;
        }
        shape
    }

    /// The number of locations.
    pub fn locations(&self) -> usize {
        self.levels.iter().sum()
    }

    /// Draws the levels as at most `lines` lines. Each line shows the widest of its levels, scaled to `columns`.
    pub fn draw(&self, lines: usize, columns: usize) -> String {
        let widest = self.levels.iter().copied().max().unwrap_or(1);
        let each = self.levels.len().div_ceil(lines.max(1)).max(1);
        let mut out = String::new();
        for (i, levels) in self.levels.chunks(each).enumerate() {
            let width = levels.iter().copied().max().unwrap_or(0);
            let marks = (width * columns).div_ceil(widest).max(1);
            let bar = "#".repeat(marks);
            // Centred, without trailing spaces.
            let _ = writeln!(out, "{:>6} {width:>6} {}{bar}", i * each, " ".repeat((columns - marks) / 2));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_the_middle() {
        let shape = Shape { levels: vec![1, 2, 8, 4], edges: 0 };
        assert_eq!(
            shape.draw(4, 8),
            "     0      1    #\n     1      2    ##\n     2      8 ########\n     3      4   ####\n"
        );
        assert_eq!(shape.draw(2, 8), "     0      2    ##\n     2      8 ########\n");
    }
}
