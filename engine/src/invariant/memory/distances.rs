//! Numbers that may be distances between objects. An address plus such a number may lead to another object.

use super::cells::{Count, Memory};
use crate::invariant::value::Value;
use crate::invariant::value::address::NULL;
use cfa::{BinOp, Expr, ExprId};
use rustc_hash::FxHashMap;
use slicer::pointer::{ObjectId, PointsTo};
use std::rc::Rc;

/// The numbers of a program that may be distances between objects.
#[derive(Default)]
pub struct Distances {
    /// By operand of a sum or difference: the objects to which the sum may lead, sorted.
    objects: FxHashMap<ExprId, Rc<[u32]>>,
}

impl Distances {
    /// The distances in the program of the points-to analysis. `numbers` returns the numbers of objects, sorted.
    pub fn compute(points_to: &mut PointsTo, numbers: impl Fn(&PointsTo, Vec<ObjectId>) -> Rc<[u32]>) -> Self {
        let program = points_to.program();
        let pool = &program.exprs;
        let mut objects = FxHashMap::default();
        for sum in (0..pool.len() as u32).map(ExprId) {
            let Expr::Binary(BinOp::Add | BinOp::Sub, a, b) = *pool.get(sum) else { continue };
            if pool.width(sum) != program.layout.pointer_width {
                continue;
            }
            for operand in [a, b] {
                if objects.contains_key(&operand) {
                    continue;
                }
                let others = points_to.distances(operand);
                if !others.is_empty() {
                    objects.insert(operand, numbers(points_to, others));
                }
            }
        }
        Self { objects }
    }

    /// Returns `sum`, an address plus or minus the value of `by`. Its targets become unknown if `by` may be a distance to
    /// another object and the sum may exceed the bounds of its object.
    pub fn checked(&self, sum: Value, by: ExprId, memory: &Memory) -> Value {
        let (Some(targets), Some(others)) = (&sum.targets, self.objects.get(&by)) else { return sum };
        let stays = |(object, at): &(u32, Value)| {
            let Some(status) = memory.status(*object) else { return *object == NULL };
            let is_only = status.count == Count::One && others.iter().all(|other| other == object);
            is_only || at.range.high <= status.size
        };
        if targets.iter().all(stays) { sum } else { sum.untargeted() }
    }
}
