//! Invariants about all cells of an array.
//!
//! Such a candidate says that a condition holds for the cells whose index lies between two bounds, as in "`a[k] <= max`
//! for all `0 <= k < i`". It is checked at a fresh symbol as index, which represents all indices (Flanagan, Qadeer:
//! Predicate abstraction for software verification, POPL 2002). It is assumed in instances: a read of the array adds
//! the instance for the index read. These are the relevant indices according to Bradley, Manna, Sipma: What's decidable
//! about arrays?, VMCAI 2006. Every instance is implied by the invariant, so missing instances can only make a proof
//! fail.

mod instances;

use super::Unrolling;
use super::state::State;
use super::templates::{Vocabulary, is_signed};
use crate::domain::symbolic::{Address, CellCandidate, Cells, LoopInfo, Snapshot};
use crate::semantics::{self, ObjId, Quantified, Val, sign_extend};
use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, LocId, Op, Program, Sort, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Maximal number of candidates at one loop.
const CANDIDATES: usize = 100;
/// Maximal number of variables that bounds are formed of.
const BOUNDS: usize = 6;
/// Maximal number of indices of accesses that bounds are formed of. [`CONSTANTS`] limits the program's constants that
/// are tried as bounds and values.
const INDICES: usize = 8;
const CONSTANTS: usize = 6;
/// Maximal number of values of a variable that is used as a guard.
const FLAG: usize = 2;
/// Maximal number of written bytes of an object that is converted to an array for the sake of a candidate.
const SMALL: u64 = 1 << 10;

/// A condition on all cells with an index from `low` to below `high`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CellFact {
    /// The rows, each with the symbol that represents its cell in the body.
    rows: Vec<(Cells, ExprId)>,
    /// The symbol that represents the index, of the width of pointers.
    index: ExprId,
    /// The bounds over variables, of the width of pointers.
    low: ExprId,
    high: ExprId,
    /// The condition, a term of one bit over variables, the index and the cells.
    body: ExprId,
}

impl CellFact {
    /// The fact in the form of the certificate.
    pub(super) fn certified(&self) -> certificate::CellFact {
        let row = |&(Cells { base, stride, first, len }, cell): &(Cells, ExprId)| certificate::Row {
            base,
            first,
            stride,
            len,
            cell,
        };
        let Self { index, low, high, body, .. } = *self;
        certificate::CellFact { rows: self.rows.iter().map(row).collect(), index, low, high, body }
    }
}

/// Generates candidates about the rows that a loop accesses, which hold in all observations. `asserted` are candidates
/// from weakest preconditions of errors.
pub fn candidates(
    pool: &mut ExprPool,
    program: &Program,
    l: &LoopInfo,
    vocabulary: &Vocabulary,
    asserted: &[CellCandidate],
) -> Vec<CellFact> {
    if l.rows.is_empty() || l.snapshots.is_empty() {
        return Vec::new();
    }
    let width = program.layout.pointer_width;
    let (_, index) = pool.fresh_symbol(Sort::Bv(width));
    let holes = l.rows.iter().map(|r| pool.fresh_symbol(Sort::Bv(8 * r.len)).1).collect();
    let scalars = l.watched.iter().map(|&v| {
        let is_pointer = matches!(program.plain_type(program.vars[v].ty), cfa::CType::Pointer(_));
        (v, program.vars[v].width, is_signed(program, program.vars[v].ty), l.modified.contains(&v), is_pointer)
    });
    let scalars = scalars
        .enumerate()
        .filter(|(_, (.., is_pointer))| !is_pointer)
        .map(|(column, (var, width, signed, modified, _))| Scalar { column, var, width, signed, modified })
        .collect();
    let bounds = Vec::new();
    let mut guess = Guess { pool, program, l, vocabulary, width, index, holes, scalars, bounds, found: Vec::new() };
    guess.all(asserted);
    guess.found
}

/// A variable of the loop.
#[derive(Clone, Copy)]
struct Scalar {
    column: usize,
    var: VarId,
    width: u32,
    signed: bool,
    modified: bool,
}

/// The generation of candidates for a loop.
struct Guess<'a> {
    pool: &'a mut ExprPool,
    program: &'a Program,
    l: &'a LoopInfo,
    vocabulary: &'a Vocabulary,
    /// The width of pointers.
    width: u32,
    index: ExprId,
    holes: Vec<ExprId>,
    scalars: Vec<Scalar>,
    bounds: Vec<Bound>,
    found: Vec<CellFact>,
}

/// A bound of a range of indices.
struct Bound {
    /// The term over variables, of the width of pointers.
    term: ExprId,
    /// Its value if it is a constant.
    constant: Option<i64>,
    /// The observed values, by snapshot.
    seen: Vec<Option<i64>>,
}

/// A range of indices: the numbers of its lower and its upper bound, which is exclusive.
type Range = (usize, usize);

impl Guess<'_> {
    fn all(&mut self, asserted: &[CellCandidate]) {
        let (ranges, guards) = (self.ranges(), self.guards());
        asserted.iter().for_each(|condition| self.asserted(condition, &ranges));
        for first in 0..self.l.accessed {
            for second in first..self.l.accessed {
                let rows = if first == second { vec![first] } else { vec![first, second] };
                let mut bodies = if first == second { self.single(first) } else { self.double(first, second) };
                let mut seen = FxHashSet::default();
                bodies.retain(|&b| seen.insert(b));
                // If two cells are equal, further relations between them add nothing.
                let mut equal: FxHashSet<(usize, Option<usize>)> = FxHashSet::default();
                for (i, &body) in bodies.iter().enumerate() {
                    let mut holds_from_start = false;
                    for (r, &range) in ranges.iter().enumerate() {
                        let start = self.bounds[range.0].constant;
                        let is_block = start.is_some_and(|c| c > 0);
                        if self.found.len() >= CANDIDATES {
                            return;
                        }
                        if equal.contains(&(r, None)) || is_block && holds_from_start {
                            continue;
                        }
                        let holds = self.keep(&rows, range, None, body);
                        holds_from_start |= holds && start.is_some();
                        if holds && i == 0 && rows.len() > 1 {
                            equal.insert((r, None));
                        }
                        if holds || rows.len() == 1 || is_block {
                            continue;
                        }
                        for (g, &guard) in guards.iter().enumerate() {
                            if !equal.contains(&(r, Some(g))) && self.keep(&rows, range, Some(guard), body) && i == 0 {
                                equal.insert((r, Some(g)));
                            }
                        }
                    }
                }
            }
        }
    }

    /// Adds a candidate from the weakest precondition of an error, for all ranges in which it was observed to hold. Its
    /// rows have to be rows of the loop.
    fn asserted(&mut self, condition: &CellCandidate, ranges: &[Range]) {
        let rows: Option<Vec<usize>> = condition
            .rows
            .iter()
            .map(|(row, _)| {
                self.l.rows.iter().position(|r| r == row && condition.is_told(self.program, row, self.l.func))
            })
            .collect();
        let Some(mut rows) = rows else { return };
        let mut meaning = FxHashMap::from_iter([(condition.index, self.index)]);
        meaning.extend(condition.rows.iter().zip(&rows).map(|(&(_, hole), &r)| (hole, self.holes[r])));
        let body =
            self.pool.substitute(condition.body, &mut FxHashMap::default(), |_, leaf| meaning.get(&leaf).copied());
        rows.sort_unstable();
        rows.dedup();
        for &range in ranges {
            self.keep(&rows, range, None, body);
        }
    }

    /// The ranges of indices for candidates: all indices; the indices below, and from, a variable or the index of a
    /// write; and the indices from a constant `c` to `c + x` for a variable `x`.
    fn ranges(&mut self) -> Vec<Range> {
        let (start, end) = (self.constant(0), self.constant(1 << (self.width - 2).min(62)));
        let of_index = |s: &&Scalar| s.modified && s.width <= self.width && s.width >= 8 && self.values(s).len() > FLAG;
        let vars: Vec<Scalar> = self.scalars.iter().filter(of_index).take(BOUNDS).copied().collect();
        let mut ranges = vec![(start, end)];
        let mut terms = Vec::new();
        for s in &vars {
            let x = self.pool.var(s.var, s.width);
            terms.push(if s.signed { self.pool.sext(self.width, x) } else { self.pool.zext(self.width, x) });
        }
        let of_vars = terms;
        for &term in &of_vars {
            if let Some(at) = self.bound(term, true) {
                ranges.extend([(start, at), (at, end)]);
            }
        }
        for (upwards, downwards) in self.indices() {
            if !of_vars.contains(&upwards) {
                ranges.extend(self.bound(upwards, false).map(|at| (start, at)));
            }
            if let Some(down) = downwards
                && !of_vars.contains(&down)
            {
                ranges.extend(self.bound(down, false).map(|at| (at, end)));
            }
        }
        for x in of_vars {
            for c in self.offsets() {
                let low = self.constant(c);
                let plus = self.pool.constant(Bv::from_i64(self.width, c));
                let sum = self.pool.add(x, plus);
                ranges.extend(self.bound(sum, true).map(|high| (low, high)));
            }
        }
        ranges
    }

    /// Terms that may separate the cells that the loop has written from the others: the upper end if the loop ascends,
    /// and the lower end if it descends, where one is known. They are derived from the indices of its writes. The
    /// summands of an index are included, because the index of an inner loop has no meaning after that loop.
    fn indices(&mut self) -> Vec<(ExprId, Option<ExprId>)> {
        let mut locs: Vec<LocId> = self.l.body.iter().copied().collect();
        locs.sort_unstable();
        let mut found = Vec::new();
        for edge in locs.into_iter().flat_map(|loc| self.program.out_edges(loc)) {
            let Op::Store { addr, value } = self.program.edges[edge].op else { continue };
            let len = self.program.exprs.width(value).div_ceil(8);
            let Some(address) = Address::new(self.program, self.pool, addr, len) else { continue };
            let Some(index) = address.index else { continue };
            let mut plus = |c| {
                let c = self.pool.constant(Bv::from_i64(self.width, c));
                self.pool.add(index, c)
            };
            let (here, behind) = (plus(address.plus), plus(address.plus.wrapping_add(1)));
            found.extend([(index, None), (here, Some(behind))]);
            // Sums read the previous cell.
            found.push((plus(-1), None));
            let parts = address.parts(self.pool);
            if parts.len() > 1 {
                found.extend(parts.into_iter().map(|part| (part, None)));
            }
        }
        let mut seen = FxHashSet::default();
        found.retain(|&pair| seen.insert(pair));
        found.truncate(INDICES);
        found
    }

    fn constant(&mut self, c: i64) -> usize {
        let term = self.pool.constant(Bv::from_i64(self.width, c));
        self.bounds.push(Bound { term, constant: Some(c), seen: vec![Some(c); self.l.snapshots.len()] });
        self.bounds.len() - 1
    }

    /// Adds a bound and returns its number. `None` if a variable in it is not watched. `None` also if few values of the
    /// term were observed, unless the caller states that it `changes`.
    fn bound(&mut self, term: ExprId, changes: bool) -> Option<usize> {
        let vars = self.pool.vars(term);
        let columns: Option<Vec<Scalar>> =
            vars.iter().map(|&v| self.scalars.iter().find(|s| s.var == v).copied()).collect();
        let columns = columns?;
        let value = |snapshot: &Snapshot| {
            let values: Option<Vec<u64>> = columns.iter().map(|s| snapshot.scalars[s.column]).collect();
            let values = values?;
            let value = self.pool.eval_tree(term, &mut |leaf| {
                let column = columns.iter().position(|s| *leaf == Expr::Var(s.var));
                column.map_or(Bv::zero(self.width), |c| Bv::new(columns[c].width, values[c]))
            });
            Some(sign_extend(self.width, value.to_u64()?))
        };
        let seen: Vec<Option<i64>> = self.l.snapshots.iter().map(value).collect();
        let mut distinct: Vec<i64> = seen.iter().flatten().copied().collect();
        distinct.sort_unstable();
        distinct.dedup();
        if !changes && distinct.len() <= FLAG {
            return None;
        }
        self.bounds.push(Bound { term, constant: None, seen });
        Some(self.bounds.len() - 1)
    }

    /// Positive constants at which blocks of a row may begin.
    fn offsets(&self) -> Vec<i64> {
        let mut offsets: Vec<i64> = self.l.snapshots.iter().flat_map(|s| s.starts.iter().copied()).collect();
        offsets.sort_unstable();
        offsets.dedup();
        offsets.retain(|&c| c > 0);
        offsets.truncate(CONSTANTS);
        offsets
    }

    /// The observed values of a variable, in ascending order.
    fn values(&self, scalar: &Scalar) -> Vec<u64> {
        let mut values: Vec<u64> = self.l.snapshots.iter().filter_map(|s| s.scalars[scalar.column]).collect();
        values.sort_unstable();
        values.dedup();
        values
    }

    /// Guards: variables with few observed values, each with one of them.
    fn guards(&self) -> Vec<(Scalar, u64)> {
        let flags = self.scalars.iter().filter(|s| s.modified).map(|s| (*s, self.values(s)));
        let flags = flags.filter(|(_, values)| values.len() <= FLAG);
        flags.flat_map(|(scalar, values)| values.into_iter().map(move |v| (scalar, v))).collect()
    }

    /// Candidate conditions on a cell, its index, and variables.
    fn single(&mut self, row: usize) -> Vec<ExprId> {
        let (cell, width) = (self.holes[row], 8 * self.l.rows[row].len);
        let mut values: Vec<u64> = self.l.snapshots.iter().flat_map(|s| s.rows[row].iter().map(|&(_, v)| v)).collect();
        values.sort_unstable();
        values.dedup();
        let mut bodies = Vec::new();
        let mut constants: Vec<u64> = vec![0];
        constants.extend(self.vocabulary.constants.get(&width).into_iter().flatten().take(CONSTANTS));
        for &c in values.iter().filter(|c| constants.contains(c) || values.len() <= 3) {
            let c = self.pool.int(width, c);
            bodies.push(self.pool.eq(cell, c));
        }
        // Affine functions of the index.
        let mut slopes: Vec<(i64, i64)> = Vec::new();
        for cells in self.l.snapshots.iter().map(|s| &s.rows[row]) {
            for pair in cells.windows(2) {
                let ((k, x), (n, y)) = (pair[0], pair[1]);
                if n == k + 1 {
                    let (x, y) = (sign_extend(width, x), sign_extend(width, y));
                    let slope = y.wrapping_sub(x);
                    let line = (slope, x.wrapping_sub(slope.wrapping_mul(k as i64)));
                    if slope != 0 && slope.unsigned_abs() <= 64 && !slopes.contains(&line) && slopes.len() < 4 {
                        slopes.push(line);
                    }
                }
            }
        }
        let k = match width.cmp(&self.width) {
            std::cmp::Ordering::Greater => self.pool.sext(width, self.index),
            _ => self.pool.extract(width - 1, 0, self.index),
        };
        for (slope, start) in slopes {
            let (slope, start) =
                (self.pool.constant(Bv::from_i64(width, slope)), self.pool.constant(Bv::from_i64(width, start)));
            let line = self.pool.mul(slope, k);
            let line = self.pool.add(line, start);
            bodies.push(self.pool.eq(cell, line));
        }
        for scalar in self.scalars.clone().into_iter().filter(|s| s.width == width) {
            let x = self.pool.var(scalar.var, width);
            bodies.push(self.pool.eq(cell, x));
            // A counter takes all values at some time, so an inequality with it fails.
            if !scalar.modified || self.values(&scalar).len() <= FLAG {
                let equal = self.pool.eq(cell, x);
                bodies.push(self.pool.not(equal));
            }
            let order = if scalar.signed { BinOp::Sle } else { BinOp::Ule };
            bodies.push(self.pool.binary(order, cell, x));
            bodies.push(self.pool.binary(order, x, cell));
        }
        // Bounds: constants of the program next to the observed extremes.
        let signed = |&c: &u64| sign_extend(width, c);
        let (least, most) = (values.iter().map(signed).min(), values.iter().map(signed).max());
        let within = |c: i64| least.is_some_and(|l| l <= c) && most.is_some_and(|m| c <= m);
        let mut orders: Vec<(i64, bool)> = vec![(0, true), (0, false)];
        orders.extend(constants.iter().map(signed).filter(|&c| least.is_some_and(|l| c <= l)).max().map(|c| (c, true)));
        orders.extend(constants.iter().map(signed).filter(|&c| most.is_some_and(|m| c >= m)).min().map(|c| (c, false)));
        for (c, is_low) in orders {
            let c = self.pool.constant(Bv::from_i64(width, c));
            bodies.push(if is_low { self.pool.sle(c, cell) } else { self.pool.sle(cell, c) });
        }
        for c in constants.into_iter().filter(|c| within(signed(c))) {
            let c = self.pool.int(width, c);
            let equal = self.pool.eq(cell, c);
            bodies.push(self.pool.not(equal));
        }
        bodies.push(self.pool.sle(cell, k));
        bodies
    }

    /// Candidate conditions on the cells of two rows at the same index. If the cells have the same width, the first is
    /// their equality.
    fn double(&mut self, first: usize, second: usize) -> Vec<ExprId> {
        let (a, b) = (self.holes[first], self.holes[second]);
        let (wa, wb) = (self.pool.width(a), self.pool.width(b));
        let mut bodies = Vec::new();
        if wa == wb {
            let equal = self.pool.eq(a, b);
            bodies.push(equal);
            bodies.push(self.pool.sle(a, b));
            bodies.push(self.pool.sle(b, a));
            let difference = self.l.snapshots.iter().find_map(|s| {
                let &(k, x) = s.rows[first].first()?;
                let &(_, y) = s.rows[second].iter().find(|&&(n, _)| n == k)?;
                Some(x.wrapping_sub(y))
            });
            if let Some(d) = difference.filter(|&d| d != 0) {
                let d = self.pool.constant(Bv::new(64, d).resize(wa));
                let sum = self.pool.add(b, d);
                bodies.push(self.pool.eq(a, sum));
            }
            bodies.push(self.pool.not(equal));
        }
        // One cell has a property if and only if the other has one.
        let properties = |pool: &mut ExprPool, cell: ExprId, width: u32| {
            let zero = pool.int(width, 0);
            [pool.eq(cell, zero), pool.slt(cell, zero), pool.slt(zero, cell)]
        };
        let (of_a, of_b) = (properties(self.pool, a, wa), properties(self.pool, b, wb));
        for x in of_a {
            for y in of_b {
                let equal = self.pool.eq(x, y);
                bodies.push(equal);
                bodies.push(self.pool.not(equal));
            }
        }
        bodies
    }

    /// Records a candidate if it holds in all observations, and in at least one. Returns true if it does. With a guard,
    /// it considers only observations in which the variable has the value.
    fn keep(&mut self, rows: &[usize], range: Range, guard: Option<(Scalar, u64)>, body: ExprId) -> bool {
        if self.pool.as_const(body).is_some() {
            return false;
        }
        let mut some = false;
        let (low, high) = (&self.bounds[range.0], &self.bounds[range.1]);
        for (i, snapshot) in self.l.snapshots.iter().enumerate() {
            let (Some(from), Some(to)) = (low.seen[i], high.seen[i]) else { continue };
            if guard.is_some_and(|(scalar, v)| snapshot.scalars[scalar.column] != Some(v)) {
                continue;
            }
            for &(k, _) in &snapshot.rows[rows[0]] {
                if (k as i64) < from || (k as i64) >= to {
                    continue;
                }
                let mut known = true;
                let holds = self.pool.eval_tree(body, &mut |leaf| {
                    let value = match *leaf {
                        Expr::Var(v) => {
                            let scalar = self.scalars.iter().find(|s| s.var == v);
                            scalar.and_then(|s| Some(Bv::new(s.width, snapshot.scalars[s.column]?)))
                        }
                        _ if self.pool.get(self.index) == leaf => Some(Bv::new(64, k).resize(self.width)),
                        _ => rows.iter().find(|&&r| self.pool.get(self.holes[r]) == leaf).and_then(|&r| {
                            let (_, value) = snapshot.rows[r].iter().find(|(n, _)| *n == k)?;
                            Some(Bv::new(8 * self.l.rows[r].len, *value))
                        }),
                    };
                    value.unwrap_or_else(|| {
                        known = false;
                        let width = match *leaf {
                            Expr::Var(v) => self.program.vars[v].width,
                            Expr::Sym(s) => self.pool.symbol_sort(s).width(),
                            _ => self.program.layout.pointer_width,
                        };
                        Bv::zero(width)
                    })
                });
                match (known, holds.is_true()) {
                    (false, _) => {}
                    (true, true) => some = true,
                    (true, false) => return false,
                }
            }
        }
        if some {
            let (low, high) = (low.term, high.term);
            let body = match guard {
                Some((scalar, value)) => {
                    let x = self.pool.var(scalar.var, scalar.width);
                    let value = self.pool.int(scalar.width, value);
                    let guard = self.pool.eq(x, value);
                    let not_guard = self.pool.not(guard);
                    self.pool.or(not_guard, body)
                }
                None => body,
            };
            let rows = rows.iter().map(|&r| (self.l.rows[r].clone(), self.holes[r])).collect();
            self.found.push(CellFact { rows, index: self.index, low, high, body });
        }
        some
    }
}
