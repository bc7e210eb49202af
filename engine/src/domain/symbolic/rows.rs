//! Rows of cells: the memory that a loop accesses at indices.

use cfa::{BinOp, Bv, CType, Expr, ExprId, ExprPool, LocId, Op, Program, VarId};
use rustc_hash::FxHashSet;

/// Maximal number of rows per loop.
const ROWS: usize = 6;
/// Maximal number of moved addresses per loop.
const ADDRESSES: usize = 12;
/// Maximal distance of neighbouring cells in bytes.
const STRIDE: u64 = 1 << 12;

/// Cells of equal size at equal distances in one object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cells {
    /// The variable or global that points into the object.
    pub base: ExprId,
    /// The distance of neighbouring cells in bytes.
    pub stride: u64,
    /// The offset of the first cell in bytes. It is less than `stride`, unless only later cells are of interest.
    pub first: u64,
    /// The length of a cell in bytes, at most 8.
    pub len: u32,
}

/// The values observed at the head of a loop.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The values of the watched variables.
    pub scalars: Vec<Option<u64>>,
    /// For each row, pairs of an index and the value of its cell, in ascending order.
    pub rows: Vec<Vec<(u64, u64)>>,
    /// The indices from which on cells were observed.
    pub starts: Vec<i64>,
}

/// The addresses that operations at these locations access, and the number of bytes.
fn accesses(program: &Program, locs: &[LocId]) -> impl Iterator<Item = (ExprId, u32)> {
    let edges = locs.iter().flat_map(|&loc| program.out_edges(loc));
    edges.filter_map(|edge| match program.edges[edge].op {
        Op::Load { var, addr } => Some((addr, program.vars[var].width.div_ceil(8))),
        Op::Store { addr, value } => Some((addr, program.exprs.width(value).div_ceil(8))),
        _ => None,
    })
}

/// The addresses that a loop at `locs` accesses and moves. Also, with length 0, the pointers that it moves and that
/// expressions at the locations `around` mention. `modified` are the variables that the loop modifies.
pub fn addresses(program: &Program, locs: &[LocId], around: &[LocId], modified: &[VarId]) -> Vec<(ExprId, u32)> {
    let is_told = |v: &VarId| program.vars[*v].name.is_some() || !modified.contains(v);
    let mut found = Vec::new();
    for (addr, len) in accesses(program, locs) {
        let vars = program.exprs.vars(addr);
        if vars.iter().any(|v| modified.contains(v)) && vars.iter().all(is_told) && !found.contains(&(addr, len)) {
            found.push((addr, len));
        }
    }
    let mut seen = FxHashSet::default();
    for edge in around.iter().flat_map(|&loc| program.out_edges(loc)) {
        program.edges[edge].op.for_each_expr(|e| {
            program.exprs.visit(e, &mut seen, |part, node| match node {
                Expr::Var(v) if is_pointer(program, *v) && program.vars[*v].name.is_some() && modified.contains(v) => {
                    found.push((part, 0));
                }
                _ => {}
            });
        });
    }
    found.truncate(ADDRESSES);
    found
}

/// True if the variable has a pointer type.
pub(super) fn is_pointer(program: &Program, var: VarId) -> bool {
    matches!(program.plain_type(program.vars[var].ty), CType::Pointer(_))
}

/// The rows that operations at `locs` access, if their base is determined at the head of the loop. `modified` are the
/// variables that the loop modifies.
pub fn rows(program: &Program, locs: &[LocId], modified: &[VarId]) -> Vec<Cells> {
    let is_told = |row: &Cells| match *program.exprs.get(row.base) {
        Expr::Var(v) => program.vars[v].name.is_some() || !modified.contains(&v),
        _ => true,
    };
    let mut found = Vec::new();
    for (addr, len) in accesses(program, locs) {
        if let Some(row) = row(program, addr, len)
            && is_told(&row)
            && !found.contains(&row)
            && found.len() < ROWS
        {
            found.push(row);
        }
    }
    found
}

fn row(program: &Program, addr: ExprId, len: u32) -> Option<Cells> {
    let mut sum = Sum::default();
    sum.add(program, &program.exprs, addr, 1);
    sum.row(&program.exprs, len)
}

/// The address of a cell.
#[derive(Clone, Debug)]
pub struct Address {
    /// The row of the cell.
    pub row: Cells,
    /// The variable part of the index, of the width of pointers. `None` if there is none.
    pub index: Option<ExprId>,
    /// The constant part of the index.
    pub plus: i64,
}

impl Address {
    /// Decomposes an address of `len` bytes. `None` if it is no address of a cell.
    pub fn new(program: &Program, pool: &mut ExprPool, addr: ExprId, len: u32) -> Option<Self> {
        let mut sum = Sum::default();
        sum.add(program, pool, addr, 1);
        let width = pool.width(addr);
        for (factor, term) in &mut sum.terms {
            // Assumes that the narrow addition does not overflow. The result is only a guess.
            let (arg, is_signed) = match *pool.get(*term) {
                Expr::Sext { arg, .. } => (arg, true),
                Expr::Zext { arg, .. } => (arg, false),
                _ => continue,
            };
            let Expr::Binary(BinOp::Add, a, b) = *pool.get(arg) else { continue };
            let Some((c, rest)) = pool.as_const(a).map(|c| (c, b)).or(pool.as_const(b).map(|c| (c, a))) else {
                continue;
            };
            let c = c.sext(64).to_u64().unwrap_or(0) as i64;
            sum.constant = sum.constant.wrapping_add(c.wrapping_mul(*factor));
            *term = if is_signed { pool.sext(width, rest) } else { pool.zext(width, rest) };
        }
        let row = sum.row(pool, len)?;
        let mut index = None;
        for &(factor, term) in &sum.terms {
            let factor = pool.constant(Bv::from_i64(width, factor / row.stride as i64));
            let part = pool.mul(term, factor);
            index = Some(index.map_or(part, |sum| pool.add(sum, part)));
        }
        Some(Self { index, plus: sum.constant.div_euclid(row.stride as i64), row })
    }

    /// The summands of the index.
    pub fn parts(&self, pool: &ExprPool) -> Vec<ExprId> {
        let mut parts = Vec::new();
        let mut stack: Vec<ExprId> = self.index.into_iter().collect();
        while let Some(e) = stack.pop() {
            match *pool.get(e) {
                Expr::Binary(BinOp::Add, a, b) => stack.extend([a, b]),
                _ => parts.push(e),
            }
        }
        parts
    }
}

/// An address as a sum.
#[derive(Default)]
struct Sum {
    base: Option<ExprId>,
    bases: u32,
    constant: i64,
    /// The other summands, of the width of pointers, each with its factor.
    terms: Vec<(i64, ExprId)>,
}

impl Sum {
    fn row(&self, pool: &ExprPool, len: u32) -> Option<Cells> {
        let gcd = |mut a: u64, mut b: u64| {
            while b != 0 {
                (a, b) = (b, a % b);
            }
            a
        };
        let common = self.terms.iter().fold(0, |common, (factor, _)| gcd(common, factor.unsigned_abs()));
        // A pointer that the loop moves has no index: the pointer itself is the index.
        let stride = if common == 0 { u64::from(len) } else { common };
        let is_global = self.base.is_some_and(|b| matches!(pool.get(b), Expr::GlobalAddr(_)));
        if self.bases != 1 || common == 0 && is_global || !matches!(len, 1 | 2 | 4 | 8) || stride > STRIDE {
            return None;
        }
        let first = self.constant.rem_euclid(stride as i64) as u64;
        (first + u64::from(len) <= stride).then_some(Cells { base: self.base?, stride, first, len })
    }

    fn add(&mut self, program: &Program, pool: &ExprPool, e: ExprId, factor: i64) {
        let constant = |e| pool.as_const(e).and_then(Bv::to_u64);
        match *pool.get(e) {
            Expr::Binary(BinOp::Add, a, b) => {
                self.add(program, pool, a, factor);
                self.add(program, pool, b, factor);
            }
            Expr::Binary(BinOp::Sub, a, b) => {
                self.add(program, pool, a, factor);
                self.add(program, pool, b, factor.wrapping_neg());
            }
            Expr::Binary(BinOp::Mul, a, b) if constant(a).or(constant(b)).is_some() => {
                let (c, x) = constant(a).map_or_else(|| (constant(b).unwrap_or(1), a), |c| (c, b));
                self.add(program, pool, x, factor.wrapping_mul(c as i64));
            }
            Expr::Binary(BinOp::Shl, a, b) if constant(b).is_some_and(|c| c < 32) => {
                self.add(program, pool, a, factor.wrapping_mul(1 << constant(b).unwrap_or(0)));
            }
            Expr::GlobalAddr(_) => self.base(e, factor),
            Expr::Var(v) if is_pointer(program, v) => self.base(e, factor),
            Expr::Const(ref c) => {
                let c = c.sext(64).to_u64().unwrap_or(0) as i64;
                self.constant = self.constant.wrapping_add(c.wrapping_mul(factor));
            }
            _ => match self.terms.iter_mut().find(|(_, term)| *term == e) {
                Some((times, _)) => *times = times.wrapping_add(factor),
                None => self.terms.push((factor, e)),
            },
        }
    }

    fn base(&mut self, e: ExprId, factor: i64) {
        self.bases += if factor == 1 { 1 } else { 2 };
        self.base = Some(e);
    }
}
