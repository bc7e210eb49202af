//! Rows of cells: what a loop reads and writes at indices.

use cfa::{BinOp, Bv, CType, Expr, ExprId, LocId, Op, Program, VarId};

/// Rows of one loop, at most.
const ROWS: usize = 6;
/// Bytes from a cell to the next, at most.
const STRIDE: u64 = 1 << 12;

/// Cells of equal size at equal distances in one object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cells {
    /// A variable or global that points into the object.
    pub base: ExprId,
    /// Bytes from a cell to the next.
    pub stride: u64,
    /// Bytes before the first cell, less than `stride`.
    pub first: u64,
    /// Bytes of a cell, at most 8.
    pub len: u32,
}

/// What was seen at the head of a loop.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Values of the watched variables.
    pub scalars: Vec<Option<u64>>,
    /// Of each row, values of some cells by index, ascending.
    pub rows: Vec<Vec<(u64, u64)>>,
    /// Indices around which more cells were looked at.
    pub starts: Vec<i64>,
}

/// The rows that operations at these locations read or write, as far as it can be told at the head of the loop, which changes
/// `modified`, where they are.
pub fn rows(program: &Program, locs: &[LocId], modified: &[VarId]) -> Vec<Cells> {
    let is_told = |row: &Cells| match *program.exprs.get(row.base) {
        Expr::Var(v) => program.vars[v].name.is_some() || !modified.contains(&v),
        _ => true,
    };
    let mut found = Vec::new();
    for edge in locs.iter().flat_map(|&loc| program.out_edges(loc)) {
        let (addr, bits) = match program.edges[edge].op {
            Op::Load { var, addr } => (addr, program.vars[var].width),
            Op::Store { addr, value } => (addr, program.exprs.width(value)),
            _ => continue,
        };
        if let Some(row) = row(program, addr, bits.div_ceil(8))
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
    let pool = &program.exprs;
    let mut sum = Sum { base: None, bases: 0, constant: 0, stride: 0 };
    sum.add(program, addr, 1);
    // A pointer that walks is an index, too.
    let stride = if sum.stride == 0 { u64::from(len) } else { sum.stride };
    let is_global = sum.base.is_some_and(|b| matches!(pool.get(b), Expr::GlobalAddr(_)));
    if sum.bases != 1 || sum.stride == 0 && is_global || !matches!(len, 1 | 2 | 4 | 8) || stride > STRIDE {
        return None;
    }
    let first = sum.constant.rem_euclid(stride as i64) as u64;
    (first + u64::from(len) <= stride).then_some(Cells { base: sum.base?, stride, first, len })
}

/// An address as a sum.
struct Sum {
    base: Option<ExprId>,
    bases: u32,
    constant: i64,
    /// The greatest common divisor of the coefficients; 0 if there are none.
    stride: u64,
}

impl Sum {
    fn add(&mut self, program: &Program, e: ExprId, factor: i64) {
        let pool = &program.exprs;
        let constant = |e| pool.as_const(e).and_then(Bv::to_u64);
        match *pool.get(e) {
            Expr::Binary(BinOp::Add, a, b) => {
                self.add(program, a, factor);
                self.add(program, b, factor);
            }
            Expr::Binary(BinOp::Sub, a, b) => {
                self.add(program, a, factor);
                self.add(program, b, factor.wrapping_neg());
            }
            Expr::Binary(BinOp::Mul, a, b) if constant(a).or(constant(b)).is_some() => {
                let (c, x) = constant(a).map_or_else(|| (constant(b).unwrap_or(1), a), |c| (c, b));
                self.add(program, x, factor.wrapping_mul(c as i64));
            }
            Expr::Binary(BinOp::Shl, a, b) if constant(b).is_some_and(|c| c < 32) => {
                self.add(program, a, factor.wrapping_mul(1 << constant(b).unwrap_or(0)));
            }
            Expr::GlobalAddr(_) => self.base(e, factor),
            Expr::Var(v) if matches!(program.plain_type(program.vars[v].ty), CType::Pointer(_)) => self.base(e, factor),
            Expr::Const(ref c) => {
                let c = c.sext(64).to_u64().unwrap_or(0) as i64;
                self.constant = self.constant.wrapping_add(c.wrapping_mul(factor));
            }
            _ => {
                let (mut a, mut b) = (self.stride, factor.unsigned_abs());
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                self.stride = a;
            }
        }
    }

    fn base(&mut self, e: ExprId, factor: i64) {
        self.bases += if factor == 1 { 1 } else { 2 };
        self.base = Some(e);
    }
}
