//! Numbers that may be distances between objects. An address plus such a number may lead to another object.

use super::cells::{Count, Memory};
use crate::invariant::value::Value;
use crate::invariant::value::address::{NULL, is_wide};
use cfa::{BinOp, Expr, ExprId};
use rustc_hash::{FxHashMap, FxHashSet};
use slicer::pointer::{ObjectId, PointsTo};
use std::rc::Rc;

/// The numbers of a program that may be distances between objects. By default, any number may be one.
#[derive(Default)]
pub struct Distances {
    /// By operand of a sum or difference: the objects to which the sum may lead, sorted.
    objects: FxHashMap<ExprId, Rc<[u32]>>,
    /// The operands of sums and differences that are no addresses. `None` if this is unknown.
    numbers: Option<FxHashSet<ExprId>>,
}

impl Distances {
    /// The distances in the program of the points-to analysis. `numbers` returns the numbers of objects, sorted. If code
    /// without a definition may have written any memory (`is_disturbed`), any number may be a distance.
    pub fn compute(
        points_to: &mut PointsTo,
        numbers: impl Fn(&PointsTo, Vec<ObjectId>) -> Rc<[u32]>,
        is_disturbed: bool,
    ) -> Self {
        let program = points_to.program();
        let pool = &program.exprs;
        let (mut objects, mut plain) = (FxHashMap::default(), FxHashSet::default());
        for sum in (0..pool.len() as u32).map(ExprId) {
            let Expr::Binary(BinOp::Add | BinOp::Sub, a, b) = *pool.get(sum) else { continue };
            if pool.width(sum) != program.layout.pointer_width {
                continue;
            }
            for operand in [a, b] {
                if objects.contains_key(&operand) || plain.contains(&operand) {
                    continue;
                }
                let others = points_to.distances(operand);
                if !others.is_empty() {
                    objects.insert(operand, numbers(points_to, others));
                }
                if points_to.pointees(operand).is_empty() {
                    plain.insert(operand);
                }
            }
        }
        Self { objects, numbers: (!is_disturbed).then_some(plain) }
    }

    /// Returns `sum`, an address plus or minus `by`, whose value is `value`. Its targets become unknown if `by` may be a
    /// distance to another object and the sum may exceed the bounds of its object.
    pub fn checked(&self, sum: Value, by: ExprId, value: &Value, memory: &Memory) -> Value {
        let Some(targets) = &sum.targets else { return sum };
        // An offset that an offset bound limits to its object leads to no other one.
        let is_limited = |(object, at): &(u32, Value)| at.limits.iter().any(|l| l.object == *object && l.more >= 0);
        let is_number = self.numbers.as_ref().is_some_and(|numbers| numbers.contains(&by));
        let stays = is_number || !is_wide(value) || targets.iter().all(is_limited);
        let stays_beside = |others: &Rc<[u32]>| {
            targets.iter().all(|(object, at)| {
                let Some(status) = memory.status(*object) else { return *object == NULL };
                let is_only = status.count == Count::One && others.iter().all(|other| other == object);
                is_only || at.range.high <= status.size
            })
        };
        if stays && self.objects.get(&by).is_none_or(stays_beside) { sum } else { sum.untargeted() }
    }
}
