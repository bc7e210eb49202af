//! Joins of abstract memories at control-flow joins and after calls.

use super::cells::{Both, Cell, Count, Joining, Loss, Memory, Status};
use super::domain::MemoryDomain;
use crate::invariant::value::Value;
use crate::semantics::Paged;
use fixedbitset::FixedBitSet;
use std::rc::Rc;

/// Drops the zero bytes at the end of objects where the two memories differ in them, and weakens the cells accordingly.
/// Returns the changed second memory.
fn folded_where_they_differ(domain: &MemoryDomain, a: &mut Memory, b: &Memory) -> Memory {
    let mut folded = b.clone();
    let pages: Vec<usize> = a.objects.differing_pages(&b.objects).collect();
    for index in pages.into_iter().flat_map(|p| p * Paged::<Status>::PAGE..(p + 1) * Paged::<Status>::PAGE) {
        let (Some(x), Some(y)) = (a.objects.get(index), b.objects.get(index)) else { continue };
        if x.zeros != y.zeros && x.count != Count::None && y.count != Count::None {
            domain.fold_zeros(a, index as u32);
            domain.fold_zeros(&mut folded, index as u32);
        }
    }
    folded
}

impl MemoryDomain<'_> {
    /// Joins `b` into `a`. Returns whether `a` has changed. `op` joins the values of a cell.
    pub fn join(&self, a: &mut Memory, b: &Memory, how: Joining, op: impl Fn(&Value, &Value) -> Value) -> bool {
        let b = &folded_where_they_differ(self, a, b);
        let is_none = |m: &Memory, cell: Cell| m.status(cell.object).is_some_and(|s| s.count == Count::None);
        let pages: Vec<usize> = a.cells.differing_pages(&b.cells).collect();
        let mut changed = false;
        for index in pages.into_iter().flat_map(|p| p * Paged::<Value>::PAGE..(p + 1) * Paged::<Value>::PAGE) {
            let (x, y) = (a.cells.get(index), b.cells.get(index));
            if x.is_none() && y.is_none() {
                continue;
            }
            let cell = self.cells[index];
            let of = |m: &Memory, known: Option<&Value>| known.cloned().or_else(|| self.held_but_for_zeros(m, cell));
            let now = match (x, y) {
                (x, None) if is_none(b, cell) => x.map(|x| x.one_sided(&Both(a, b))),
                (None, y) if is_none(a, cell) => y.map(|y| y.one_sided(&Both(a, b))),
                (x, y) => of(a, x).zip(of(b, y)).map(|(x, y)| op(&x, &y)),
            };
            let now = now.filter(|v| !v.is_full());
            if now.as_ref() != x {
                a.cells.set(index, now);
                changed = true;
            }
        }
        if !b.lost.is_subset(&a.lost) {
            Rc::make_mut(&mut a.lost).extend(b.lost.iter().copied());
            changed = true;
        }
        let pages: Vec<usize> = a.objects.differing_pages(&b.objects).collect();
        let mut are_covers_of = false;
        for index in pages.into_iter().flat_map(|p| p * Paged::<Status>::PAGE..(p + 1) * Paged::<Status>::PAGE) {
            let Some(x) = a.objects.get(index) else { continue };
            let mut now = b.objects.get(index).map(|y| x.join(y));
            if let Some(now) = now.as_mut().filter(|_| how == Joining::Forgetting) {
                now.forget_changes(x);
            }
            are_covers_of |= now.as_ref().is_some_and(|now| !now.covers.is_empty());
            if now.as_ref() != Some(x) {
                a.objects.set(index, now);
                changed = true;
            }
        }
        if are_covers_of {
            a.keep_covers(|memory, cover| memory.defines(cover, false));
        }
        changed
    }

    /// The memory with only the cells of the objects `to`.
    pub fn confined(&self, memory: &Memory, to: &FixedBitSet) -> Memory {
        let mut confined = memory.clone();
        confined.cells.retain(|cell| to.contains(self.cells[cell].object as usize));
        confined
    }

    /// The caller's memory after a call. Cells that the callee may write take the callee's values; all other cells keep
    /// the caller's. The number and the sizes of objects are the callee's only for those that it may allocate or free.
    pub fn returned(&self, before: &Memory, after: &Memory, touched: &FixedBitSet, changed: &FixedBitSet) -> Memory {
        let mut now = before.clone();
        if !after.lost.is_subset(&now.lost) {
            Rc::make_mut(&mut now.lost).extend(after.lost.iter().copied());
        }
        let pages: Vec<usize> = before.cells.differing_pages(&after.cells).collect();
        for index in pages.into_iter().flat_map(|p| p * Paged::<Value>::PAGE..(p + 1) * Paged::<Value>::PAGE) {
            if self.cells.get(index).is_some_and(|cell| touched.contains(cell.object as usize)) {
                let value = after.cells.get(index);
                if now.cells.get(index) != value {
                    now.cells.set(index, value.cloned());
                }
            }
        }
        // Reads touch no objects, but they may observe null bytes.
        for &(object, _) in after.lost.iter().filter(|&&(o, loss)| loss == Loss::Seen && !touched.contains(o as usize))
        {
            let (seen, null) = after.status(object).map_or((None, None), |status| (status.seen, status.null));
            let is_new = after.lost.contains(&(object, Loss::Null));
            now.change(object, |status| (status.seen, status.null) = (seen, if is_new { null } else { status.null }));
        }
        let pages: Vec<usize> = before.objects.differing_pages(&after.objects).collect();
        for index in pages.into_iter().flat_map(|p| p * Paged::<Status>::PAGE..(p + 1) * Paged::<Status>::PAGE) {
            if touched.contains(index) {
                let status = after.objects.get(index).map(|status| match before.objects.get(index) {
                    Some(before) if !changed.contains(index) => status.clone().with_life_of(before),
                    _ => status.clone(),
                });
                if now.objects.get(index) != status.as_ref() {
                    now.objects.set(index, status);
                }
            }
        }
        now
    }
}
