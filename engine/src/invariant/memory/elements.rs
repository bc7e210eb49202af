//! Addresses of array elements, refined by the values read from them. For example, a loop over a table that ends at a
//! null element stays within the table.

use crate::invariant::memory::cells::Cell;
use crate::invariant::memory::domain::MemoryDomain;
use crate::invariant::memory::environment::{Environment, Rows};
use crate::invariant::value::Value;
use cfa::{Expr, ExprPool, VarId};
use smt::bounds::Bounds;

/// Largest number of elements that are compared with a value.
const ELEMENTS: u64 = 64;

impl MemoryDomain<'_> {
    /// Refines the addresses of the elements that equal variables: an element whose value the variable no longer has is
    /// not the one. Considers the variables whose values differ from those in `before`. Returns `false` if no element is
    /// left.
    pub fn refine_addresses(&self, env: &mut Environment, before: &Environment, rows: &Rows, pool: &ExprPool) -> bool {
        for (read, address) in env.recent.contents.clone() {
            let Some(value) = env.get(rows, read.var).cloned() else { continue };
            if before.get(rows, read.var) == Some(&value) || !read.width.is_multiple_of(8) {
                continue;
            }
            let bytes = u64::from(read.width / 8);
            let (base, by) = pool.base_and_offset(address);
            let Expr::Var(base) = *pool.get(base) else { continue };
            let Some((object, at)) = offset_of(env.get(rows, base)) else { continue };
            let most = env.memory.status(object).map_or(0, |status| status.most);
            // The access lies within the object.
            let Some(last) = most.checked_sub(bytes).and_then(|last| last.checked_sub(by)) else { continue };
            let (step, last) = (at.congruence.modulus.max(1), last.min(at.range.high));
            let (Some(first), Ok(step)) = (at.congruence.next(at.range.low), usize::try_from(step)) else { continue };
            if first == last || last.saturating_sub(first) / step as u64 >= ELEMENTS {
                continue;
            }
            let may_be_it = |at: &u64| {
                let held = self.held(&env.memory, Cell { object, at: at + by, bytes });
                held.is_none_or(|held| held.meet(&value).is_some())
            };
            let left: Vec<u64> = (first..=last).step_by(step).filter(may_be_it).collect();
            let (Some(&low), Some(&high)) = (left.first(), left.last()) else { return false };
            env.confine_offset(rows, base, (low, high));
        }
        true
    }
}

/// The object that an address points to, and the offset, if it is no constant.
fn offset_of(address: Option<&Value>) -> Option<(u32, &Value)> {
    let [(object, at)] = address?.targets.as_deref()? else { return None };
    at.as_constant().is_none().then_some((*object, at))
}

/// An address with its offset confined to a range.
fn confined(address: Option<&Value>, (low, high): (u64, u64), by: u64) -> Option<Value> {
    let (object, at) = offset_of(address)?;
    let range = Bounds::unsigned(at.width(), low.checked_add(by)?, high.checked_add(by)?).and_then(Value::of_range)?;
    Some(Value { targets: Some([(object, at.meet(&range)?)].into()), ..address?.clone() })
}

impl Environment {
    /// Confines the offset of a variable, and those of the variables and cells that are computed from it, to a range.
    fn confine_offset(&mut self, rows: &Rows, base: VarId, range: (u64, u64)) {
        let sums = self.recent.sums.iter().filter(|(_, of, _)| *of == base).map(|&(sum, _, by)| (sum, by));
        let all: Vec<(VarId, u64)> = std::iter::once((base, 0)).chain(sums).collect();
        for (var, by) in all {
            if let Some(value) = confined(self.get(rows, var), range, by) {
                self.set(rows, var, Some(value));
            }
            for (_, more, cell) in self.recent.copies().filter(|(copy, ..)| *copy == var).collect::<Vec<_>>() {
                let by = by.checked_add(more);
                let value = by.and_then(|by| confined(self.memory.cells.get(cell as usize), range, by));
                if let Some(value) = value {
                    self.memory.cells.set(cell as usize, Some(value));
                }
            }
        }
    }
}
