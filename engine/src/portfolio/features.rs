//! The program features that determine which analyses run.

use crate::composition::Analysis;
use cfa::facts::allocates_again;
use cfa::graph::CfaGraphs;
use cfa::loops::LoopForest;
use cfa::{BinOp, CallGraph, Expr, ExprId, ExprPool, Op, Program, UnOp};
use rustc_hash::FxHashSet;

/// The features of a program.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Features {
    /// True if the program has loops.
    pub loops: bool,
    /// True if the program has recursive functions.
    pub recursion: bool,
    /// Number of branch conditions that compare a variable with a constant for equality. Many of them indicate a state
    /// machine.
    pub modes: usize,
    /// Number of other branch conditions.
    pub conditions: usize,
    /// True if heap memory is allocated in a loop.
    pub lists: bool,
}

/// A program with at least this number of such conditions may be a state machine.
const MANY_MODES: usize = 24;

impl Features {
    /// Computes the features of a program.
    pub fn compute(program: &Program) -> Self {
        let graphs = CfaGraphs::new(program);
        let calls = CallGraph::new(program);
        let mut looping = FxHashSet::default();
        for g in graphs.funcs.values() {
            let forest = LoopForest::new(&g.graph, 0);
            let nodes = g.locs.iter().enumerate();
            looping.extend(nodes.filter(|&(node, _)| forest.innermost(node as u32).is_some()).map(|(_, &loc)| loc));
        }
        let mut features = Self {
            loops: !looping.is_empty(),
            lists: allocates_again(program, |loc| looping.contains(&loc)),
            recursion: program.funcs.ids().any(|f| calls.is_recursive(f)),
            ..Self::default()
        };
        let mut seen = FxHashSet::default();
        for edge in program.edges.values() {
            let Op::Assume { cond, branch: true, .. } = edge.op else { continue };
            if seen.insert(cond) {
                match is_mode(&program.exprs, cond) {
                    true => features.modes += 1,
                    false => features.conditions += 1,
                }
            }
        }
        features
    }

    /// The analyses in the order of their time slices. The first is symbolic execution, since proofs by invariants
    /// learn from its executions.
    pub fn analyses(self) -> Vec<Analysis> {
        use Analysis::{Merging, Symex};
        if !self.loops && !self.recursion {
            return vec![Symex, Merging];
        }
        let mut turns = self.for_numbers();
        if self.lists {
            turns.insert(1, Analysis::SHAPE);
        }
        turns
    }

    /// Like [`analyses`](Self::analyses), for programs with loops or recursion, without regard to lists.
    fn for_numbers(self) -> Vec<Analysis> {
        use Analysis::{Invariants, Merging, Random, Symex};
        const SYMEX_CEGAR: Analysis = Analysis::SYMEX_CEGAR;
        const VALUE: Analysis = Analysis::VALUE;
        const VALUE_PREDICATE: Analysis = Analysis::VALUE_PREDICATE;
        if self.modes >= MANY_MODES && self.modes > self.conditions {
            // Few of many variables matter, and they have few values.
            return vec![Symex, VALUE, SYMEX_CEGAR, Invariants, Random, Merging, VALUE_PREDICATE];
        }
        vec![Symex, Invariants, Merging, Random, SYMEX_CEGAR, VALUE, VALUE_PREDICATE]
    }
}

/// True if a condition compares a variable with a constant for equality, possibly negated.
fn is_mode(pool: &ExprPool, mut cond: ExprId) -> bool {
    while let Expr::Unary(UnOp::Not, e) = *pool.get(cond) {
        cond = e;
    }
    let Expr::Binary(BinOp::Eq, a, b) = *pool.get(cond) else { return false };
    let plain = |mut e: ExprId| {
        while let Expr::Zext { arg, .. } | Expr::Sext { arg, .. } = *pool.get(e) {
            e = arg;
        }
        matches!(pool.get(e), Expr::Var(_))
    };
    plain(a) && pool.as_const(b).is_some() || plain(b) && pool.as_const(a).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop over a variable that is compared with `modes` constants.
    fn machine(modes: usize) -> Program {
        let mut text = String::from(
            "program 64 entry f0\ntype ty0 void\ntype ty1 int \"int\" 32 signed\n\nfunc f0 \"main\" source ty0 () entry l0 {\n  \
             local v0 \"x\" ty1 32\n  l0:\n    t0: v0 := 0:32 -> l1\n",
        );
        let mut edge = 1;
        for i in 0..modes {
            let (here, next) = (i + 1, if i + 1 == modes { 1 } else { i + 2 });
            text += &format!("  l{here}:\n    t{edge}: if (v0 == {i}:32) -> l{next}\n");
            text += &format!("    t{}: else ~(v0 == {i}:32) -> l{next}\n", edge + 1);
            edge += 2;
        }
        text += "}\n";
        cfa::text::parse(&text).unwrap_or_else(|e| panic!("{e:?}\n{text}"))
    }

    #[test]
    fn state_machines_are_seen() {
        let few = Features::compute(&machine(3));
        assert_eq!(few, Features { loops: true, recursion: false, modes: 3, ..Features::default() });
        assert_eq!(few.analyses()[1], Analysis::Invariants);
        let many = Features::compute(&machine(MANY_MODES));
        assert_eq!(many.analyses()[1], Analysis::VALUE);
    }
}
