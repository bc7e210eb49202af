//! Addresses of array elements, refined by the values read from them. For example, a loop over a table that ends at a
//! null element stays within the table.

use crate::invariant::memory::cells::Cell;
use crate::invariant::memory::domain::MemoryDomain;
use crate::invariant::memory::environment::{Environment, Rows};
use cfa::{Expr, ExprPool};

/// Largest number of elements that are compared with a value.
const ELEMENTS: u64 = 64;

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
            let Some([(object, at)]) = env.get(rows, var).and_then(|value| value.targets.as_deref()) else { continue };
            let object = *object;
            let most = env.memory.status(object).map_or(0, |status| status.most);
            // The access lies within the object.
            let Some(last) = most.checked_sub(bytes).and_then(|last| last.checked_sub(by)) else { continue };
            let (step, last) = (at.congruence.modulus.max(1), last.min(at.range.high));
            let (Some(first), Ok(step)) = (at.congruence.next(at.range.low), usize::try_from(step)) else { continue };
            if first >= last || (last - first) / step as u64 >= ELEMENTS {
                continue;
            }
            let may_be_it = |at: &u64| {
                let held = self.held(&env.memory, Cell { object, at: at + by, bytes });
                held.is_none_or(|held| held.meet(&value).is_some())
            };
            let left: Vec<u64> = (first..=last).step_by(step).filter(may_be_it).collect();
            let (Some(&low), Some(&high)) = (left.first(), left.last()) else { return false };
            env.confine(rows, pool, base, object, (low, high));
        }
        true
    }
}
