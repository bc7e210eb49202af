//! Facts about all cells of arrays. They are claimed for a fresh symbol as index, which represents all indices
//! (Flanagan, Qadeer: Predicate abstraction for software verification, POPL 2002). They are assumed for the indices
//! that a query mentions (Bradley, Manna, Sipma: What's decidable about arrays?, VMCAI 2006). A missing instance can
//! only make a check fail.

use super::*;
use cfa::BinOp;

/// A fact that holds for every value of its index, in the executions that reached the location where it was assumed.
pub(super) struct Quantified {
    formula: ExprId,
    index: ExprId,
    rows: Vec<Elements>,
}

/// The cells of a row as array elements: the first one, and the stride.
struct Elements {
    array: ExprId,
    first: u64,
    stride: u64,
}

/// A fact at one index, with the elements that it refers to.
struct Instance {
    holds: ExprId,
    rows: Vec<Elements>,
}

/// Limits on the number of instances per query, and on the rounds of instantiation.
const INSTANCES: usize = 300;
const ROUNDS: u32 = 2;

pub(super) fn claim_cells(ck: &mut Checker<'_>, st: &mut State, head: LocId) -> Checked {
    let certificate = ck.certificate;
    for fact in certificate.cells.get(&head).into_iter().flatten() {
        let k = ck.fresh(ck.pointer_width());
        let Some(Instance { holds, .. }) = cell_at(ck, st, fact, k) else {
            return ck.never(st, "an invariant about cells does not fit their object");
        };
        ck.claim(st, holds, "an invariant about all cells does not hold")?;
    }
    Ok(())
}

pub(super) fn assume_cells(ck: &mut Checker<'_>, st: &mut State, head: LocId) -> Checked {
    let certificate = ck.certificate;
    for fact in certificate.cells.get(&head).into_iter().flatten() {
        // A fresh symbol, which instantiation replaces.
        let index = ck.fresh(ck.pointer_width());
        let Some(Instance { holds, rows }) = cell_at(ck, st, fact, index) else { continue };
        let elsewhere = ck.pool.not(st.pc);
        let formula = ck.pool.or(elsewhere, holds);
        ck.facts.push(Rc::new(Quantified { formula, index, rows }));
    }
    Ok(())
}

/// The fact at index `k`; `None` if it is malformed.
fn cell_at(ck: &mut Checker<'_>, st: &mut State, fact: &CellFact, k: ExprId) -> Option<Instance> {
    let (low, high) = (ck.eval(st, fact.low), ck.eval(st, fact.high));
    let (above, below) = (ck.pool.sle(low, k), ck.pool.slt(k, high));
    let mut guard = ck.pool.and(above, below);
    let mut meaning = FxHashMap::from_iter([(fact.index, k)]);
    let mut rows = Vec::new();
    for row in &fact.rows {
        let base = ck.eval(st, row.base);
        let into = access::objects_of(ck, base)?;
        let &[(_, object)] = &into[..] else { return None };
        let slot = access::slot(ck, st, object);
        let unit = ck.contents.unit(object, row.len);
        let aligned = |n: u64| n.is_multiple_of(u64::from(unit));
        if row.stride == 0 || row.len != unit || !aligned(row.first) || !aligned(row.stride) {
            return None;
        }
        let array = content::array(ck, object, &slot.content)?;
        // The cell lies in the object, and its index is so small that the offset does not wrap around.
        let width = ck.pointer_width();
        let offset = ck.pool.int(width, row.stride);
        let offset = ck.pool.mul(k, offset);
        let first = ck.pool.int(width, row.first);
        let offset = ck.pool.add(offset, first);
        let most = ck.pool.int(width, (1 << (width / 2)) / row.stride);
        let few = ck.pool.ule(k, most);
        let len = ck.pool.int(width, u64::from(row.len));
        let end = ck.pool.add(offset, len);
        let fits = ck.pool.ule(end, ck.objects[object as usize].size);
        for condition in [few, fits] {
            guard = ck.pool.and(guard, condition);
        }
        let element = content::element(ck, offset, unit);
        let cell = ck.pool.select(array, element);
        meaning.insert(row.cell, cell);
        let (first, stride) = (row.first / u64::from(unit), row.stride / u64::from(unit));
        rows.push(Elements { array, first, stride });
    }
    let body = ck.eval_with(st, fact.body, &meaning);
    let outside = ck.pool.not(guard);
    Some(Instance { holds: ck.pool.or(outside, body), rows })
}

/// The instances of known facts for the arrays and elements that a query mentions.
pub(super) fn instances(ck: &mut Checker<'_>, question: ExprId) -> Vec<ExprId> {
    let (mut seen, mut done) = (FxHashSet::default(), FxHashSet::default());
    let (mut all, mut open) = (Vec::new(), vec![question]);
    for _ in 0..ROUNDS {
        if ck.facts.is_empty() {
            break;
        }
        let mut selected = Vec::new();
        for e in std::mem::take(&mut open) {
            ck.pool.visit(e, &mut seen, |_, node| {
                if let Expr::Select { array, index } = *node {
                    selected.push((array, index));
                }
            });
        }
        for (array, index) in selected {
            let below = roots(ck, array);
            for fact in ck.facts.clone() {
                for row in &fact.rows {
                    if roots(ck, row.array).is_disjoint(&below) || all.len() >= INSTANCES {
                        continue;
                    }
                    let Some(k) = index_of(ck, index, row) else { continue };
                    let instance = ck.pool.substitute(fact.formula, &mut FxHashMap::default(), |_, leaf| {
                        (leaf == fact.index).then_some(k)
                    });
                    if !ck.pool.is_true(instance) && done.insert(instance) {
                        all.push(instance);
                        open.push(instance);
                    }
                }
            }
        }
    }
    all
}

/// The arrays from which `array` was derived by stores and choices.
fn roots(ck: &Checker<'_>, array: ExprId) -> FxHashSet<ExprId> {
    let (mut open, mut seen, mut roots) = (vec![array], FxHashSet::default(), FxHashSet::default());
    while let Some(array) = open.pop() {
        if !seen.insert(array) {
            continue;
        }
        match *ck.pool.get(array) {
            Expr::Store { array, .. } => open.push(array),
            Expr::Ite(_, a, b) => open.extend([a, b]),
            _ => drop(roots.insert(array)),
        }
    }
    roots
}

/// The index of an element in a row.
fn index_of(ck: &mut Checker<'_>, element: ExprId, row: &Elements) -> Option<ExprId> {
    let width = ck.pointer_width();
    let element = ck.pool.zext(width, element);
    let first = ck.pool.int(width, row.first);
    let distance = ck.pool.sub(element, first);
    if row.stride == 1 {
        return Some(distance);
    }
    let stride = ck.pool.int(width, row.stride);
    Some(ck.pool.binary(BinOp::UDiv, distance, stride))
}
