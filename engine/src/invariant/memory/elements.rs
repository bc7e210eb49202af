//! Addresses of array elements, refined by the values read from them. For example, a loop over a table that ends at a
//! null element stays within the table.

use crate::invariant::memory::cells::Cell;
use crate::invariant::memory::domain::MemoryDomain;
use crate::invariant::memory::environment::{Environment, Rows};
use crate::invariant::value::Value;
use cfa::{Expr, ExprPool};

/// Largest number of elements that are compared with a value.
const ELEMENTS: u64 = 256;

impl MemoryDomain<'_> {
    /// Refines the addresses of the elements that equal variables: an element whose value the variable no longer has is
    /// not the one. Considers the variables whose values differ from those in `before`. Returns `false` if no element is
    /// left.
    pub fn refine_addresses(&self, env: &mut Environment, before: &Environment, rows: &Rows, pool: &ExprPool) -> bool {
        for index in 0..env.recent.contents.len() {
            let (read, address) = env.recent.contents[index];
            let Some(value) = env.get(rows, read.var).cloned() else { continue };
            if before.get(rows, read.var) == Some(&value) || !read.width.is_multiple_of(8) {
                continue;
            }
            let bytes = u64::from(read.width / 8);
            let (base, by) = pool.base_and_offset(address);
            let Expr::Var(var) = *pool.get(base) else { continue };
            let Some(targets) = env.get(rows, var).and_then(|value| value.targets.clone()) else { continue };
            let mut left: Vec<(u32, Value)> = Vec::with_capacity(targets.len());
            for (object, at) in targets.iter() {
                let offsets = self.offsets_of(env, *object, at, (by, bytes), &value);
                left.extend(offsets.map_or(Some(at.clone()), |left| at.among(left)).map(|at| (*object, at)));
            }
            if left.is_empty() {
                return false;
            }
            for (object, at) in &left {
                env.confine(rows, pool, base, *object, (at.range.low, at.range.high));
            }
            env.lead_to(rows, var, left.into());
        }
        true
    }

    /// The offsets in an object, among `at`, of the elements that may have a value. An element of `bytes` bytes is `by`
    /// bytes after its offset. `None` if the elements are too many.
    fn offsets_of(
        &self,
        env: &Environment,
        object: u32,
        at: &Value,
        (by, bytes): (u64, u64),
        value: &Value,
    ) -> Option<Vec<u64>> {
        // The access lies within the object.
        let last = env.memory.status(object)?.most.checked_sub(bytes)?.checked_sub(by)?.min(at.range.high);
        let may_be_it = |at: &u64| {
            let held = self.held(&env.memory, Cell { object, at: at + by, bytes });
            held.is_none_or(|held| held.meet(value).is_some())
        };
        if let Some(members) = &at.members {
            return Some(members.iter().copied().filter(|&at| at <= last).filter(may_be_it).collect());
        }
        let first = at.congruence.next(at.range.low)?;
        let step = usize::try_from(at.congruence.modulus.max(1)).ok()?;
        let is_few = first <= last && (last - first) / (step as u64) < ELEMENTS;
        is_few.then(|| (first..=last).step_by(step).filter(may_be_it).collect())
    }
}
