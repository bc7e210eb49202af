//! The thresholds of widening: the constants of the program.

use crate::invariant::value::limits::LARGEST;
use cfa::{Bv, Expr, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use smt::bounds::Bounds;
use std::collections::BTreeSet;

/// Largest number of thresholds per width.
const THRESHOLDS: usize = 256;

/// By width: the constants in the program with their neighbours, ascending.
pub(crate) fn thresholds(program: &Program) -> FxHashMap<u32, Vec<u64>> {
    let mut found: FxHashMap<u32, BTreeSet<u64>> = FxHashMap::default();
    let mut seen = FxHashSet::default();
    for edge in program.edges.values() {
        edge.op.for_each_expr(|e| {
            program.exprs.visit(e, &mut seen, |_, node| {
                if let Expr::Const(c) = node
                    && c.width() <= 64
                {
                    let of_width = found.entry(c.width()).or_default();
                    if of_width.len() < THRESHOLDS {
                        let one = Bv::one(c.width());
                        of_width.extend([c.clone(), c.add(&one), c.sub(&one)].iter().filter_map(Bv::to_u64));
                    }
                }
            });
        });
    }
    // Two more thresholds for pointers: an offset after an access lies within the object unless it has wrapped around,
    // and the largest possible end of an object.
    let width = program.layout.pointer_width;
    let of_pointers = found.entry(width).or_default();
    of_pointers.extend([Bounds::full(width).max as u64 / 2, LARGEST & Bounds::full(width).high]);
    found.into_iter().map(|(width, set)| (width, set.into_iter().collect())).collect()
}
