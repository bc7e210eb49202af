//! Must-relations between variables and memory cells that hold on every path to a location.

use cfa::{BinOp, Expr, ExprId, ExprPool, UnOp, VarId};
use rustc_hash::FxHashSet;

/// Must-relations between variables and memory cells that hold on every path to a location. The most recent ones are
/// kept.
#[derive(Clone, Default, PartialEq)]
pub struct Recent {
    /// Memory cells that equal the sum of a variable and a number.
    pub(super) copies: Vec<(VarId, u64, u32)>,
    /// Variables that are null if and only if the byte at an address was null when it was read.
    pub(super) reads: Vec<(Read, ExprId)>,
    /// `(a, b, c)` for `a = b + c`, without wrap-around where `b` has an offset bound.
    pub(super) sums: Vec<(VarId, VarId, u64)>,
    /// Variables that equal an expression, since their last assignment.
    pub(super) definitions: Vec<(VarId, ExprId)>,
    /// Variables that equal the memory at an address.
    pub(super) contents: Vec<(Read, ExprId)>,
    /// Variables that are the offset of an address in its object.
    offsets: Vec<(VarId, ExprId)>,
    /// Variables that are at most the size of the object that starts at an address.
    sizes: Vec<(VarId, ExprId)>,
    /// Differences of counters.
    gaps: Vec<Gap>,
}

/// A variable of `width` bits.
#[derive(Clone, Copy, PartialEq)]
pub struct Read {
    /// The variable.
    pub var: VarId,
    /// The width in bits.
    pub width: u32,
}

/// `a <= b + more`, where both are numbers of one width.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gap {
    /// The smaller variable.
    pub a: VarId,
    /// The larger one.
    pub b: VarId,
    /// The constant.
    pub more: i64,
    /// The width of both in bits.
    pub width: u32,
    /// True if both are signed.
    pub is_signed: bool,
}

/// Number of relations of each kind that are kept.
const RECENT: usize = 16;

impl Recent {
    /// Intersects with `o`. Returns whether a relation was removed.
    pub fn join(&mut self, o: &Self) -> bool {
        if self == o {
            return false;
        }
        let before = self.len();
        self.copies.retain(|copy| o.copies.contains(copy));
        self.reads.retain(|read| o.reads.contains(read));
        self.sums.retain(|sum| o.sums.contains(sum));
        self.definitions.retain(|definition| o.definitions.contains(definition));
        self.contents.retain(|content| o.contents.contains(content));
        self.offsets.retain(|offset| o.offsets.contains(offset));
        self.sizes.retain(|size| o.sizes.contains(size));
        self.len() < before
    }
    fn len(&self) -> usize {
        self.copies.len()
            + self.reads.len()
            + self.sums.len()
            + self.definitions.len()
            + self.contents.len()
            + self.offsets.len()
            + self.sizes.len()
    }
    /// Keeps relations among locals only.
    pub fn forget_shared(&mut self, pool: &ExprPool, is_local: &dyn Fn(VarId) -> bool) {
        (self.copies, self.reads) = (Vec::new(), Vec::new());
        self.sums.retain(|(sum, of, _)| is_local(*sum) && is_local(*of));
        self.definitions.retain(|(defined, value)| is_local(*defined) && variables(pool, *value).all(is_local));
        self.contents.retain(|(held, address)| is_local(held.var) && variables(pool, *address).all(is_local));
        self.offsets.retain(|(offset, address)| is_local(*offset) && variables(pool, *address).all(is_local));
        self.sizes.retain(|(size, address)| is_local(*size) && variables(pool, *address).all(is_local));
    }
    /// Drops the contents of memory, and the sizes of objects, at addresses where an operation may change them.
    pub fn written(&mut self, is_kept: &dyn Fn(ExprId) -> bool) {
        self.contents.retain(|(_, address)| is_kept(*address));
        self.sizes.retain(|(_, address)| is_kept(*address));
    }
    /// The variables that equal the memory at an address.
    #[cfg(test)]
    pub fn contents(&self) -> impl Iterator<Item = (Read, ExprId)> {
        self.contents.iter().copied()
    }
    /// The recorded reads.
    #[cfg(test)]
    pub fn reads(&self) -> impl Iterator<Item = (Read, ExprId)> {
        self.reads.iter().copied()
    }
    /// Records that `read` holds the memory at `address`. Returns the variables that hold the same.
    pub fn held(&mut self, pool: &ExprPool, read: Read, address: ExprId) -> Vec<VarId> {
        let address = self.made_of(pool, address);
        let is_it = |(held, at): &&(Read, ExprId)| *at == address && held.width == read.width && held.var != read.var;
        let same: Vec<VarId> = self.contents.iter().filter(is_it).map(|(held, _)| held.var).collect();
        if !mentions(pool, address, read.var) {
            push(&mut self.contents, (read, address));
            for &of in &same {
                [(read.var, of, 0), (of, read.var, 0)].into_iter().for_each(|sum| push(&mut self.sums, sum));
            }
        }
        same
    }
    /// Expands an address by the definitions of its variables.
    fn made_of(&self, pool: &ExprPool, mut address: ExprId) -> ExprId {
        for _ in 0..RECENT {
            let Expr::Var(var) = *pool.get(address) else { break };
            let Some(made) = self.definition(var) else { break };
            address = made;
        }
        address
    }
    /// Drops relations that involve a variable, which is about to be changed.
    pub fn forget(&mut self, pool: &ExprPool, var: VarId) {
        self.copies.retain(|(copy, ..)| *copy != var);
        self.reads.retain(|(read, address)| read.var != var && !mentions(pool, *address, var));
        self.sums.retain(|(sum, of, _)| *sum != var && *of != var);
        self.definitions.retain(|(defined, value)| *defined != var && !mentions(pool, *value, var));
        self.contents.retain(|(held, address)| held.var != var && !mentions(pool, *address, var));
        self.offsets.retain(|(offset, address)| *offset != var && !mentions(pool, *address, var));
        self.sizes.retain(|(size, address)| *size != var && !mentions(pool, *address, var));
        self.gaps.retain(|gap| gap.a != var && gap.b != var);
    }
    /// The differences of counters.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }
    /// Sets the differences of counters.
    pub fn set_gaps(&mut self, gaps: Vec<Gap>) {
        self.gaps = gaps;
    }
    /// Records that a variable is the offset of an address in its object.
    pub fn measured(&mut self, pool: &ExprPool, var: VarId, address: ExprId) {
        if !mentions(pool, address, var) {
            push(&mut self.offsets, (var, address));
        }
    }
    /// The variables that are the offset of an address in its object.
    #[cfg(test)]
    pub fn offsets(&self) -> impl Iterator<Item = (VarId, ExprId)> {
        self.offsets.iter().copied()
    }
    /// True if an expression is the offset of an address in its object.
    pub fn is_offset(&self, pool: &ExprPool, e: ExprId, address: ExprId) -> bool {
        let is_it = |(var, at): &(VarId, ExprId)| *at == address && matches!(pool.get(e), Expr::Var(v) if v == var);
        self.offsets.iter().any(is_it)
    }
    /// Records that a variable is at most the size of the object that starts at an address.
    pub fn sized(&mut self, pool: &ExprPool, var: VarId, address: ExprId) {
        if !mentions(pool, address, var) && !self.sizes.contains(&(var, address)) {
            push(&mut self.sizes, (var, address));
        }
    }
    /// Records that `less` is at most `greater`, where both are unsigned.
    pub fn ordered(&mut self, pool: &ExprPool, less: ExprId, greater: ExprId) {
        let (&Expr::Var(less), &Expr::Var(greater)) = (pool.get(less), pool.get(greater)) else { return };
        self.sizes_of(greater).into_iter().for_each(|address| self.sized(pool, less, address));
    }
    fn sizes_of(&self, var: VarId) -> Vec<ExprId> {
        self.sizes.iter().filter(|(size, _)| *size == var).map(|(_, address)| *address).collect()
    }
    /// True if an expression is at most the size of the object that starts at an address.
    pub fn is_within_size(&self, pool: &ExprPool, e: ExprId, address: ExprId) -> bool {
        let is_within = |e: ExprId| self.is_within_size(pool, e, address);
        match *pool.get(e) {
            Expr::Var(var) => self.sizes.contains(&(var, address)),
            Expr::Ite(cond, a, b) if minimum(pool, cond, a, b) == Some(false) => is_within(a) || is_within(b),
            Expr::Ite(_, a, b) => is_within(a) && is_within(b),
            _ => false,
        }
    }
    /// The variables that are at most the size of the object at an address.
    #[cfg(test)]
    pub fn sizes(&self) -> impl Iterator<Item = (VarId, ExprId)> {
        self.sizes.iter().copied()
    }
    /// Drops the relations to a cell.
    pub fn forget_cell(&mut self, cell: u32) {
        self.copies.retain(|(.., id)| *id != cell);
    }
    /// Drops the relations to the cells that satisfy `are`.
    pub fn forget_cells(&mut self, are: &dyn Fn(u32) -> bool) {
        self.copies.retain(|(.., id)| !are(*id));
    }
    /// Drops all reads.
    pub fn forget_reads(&mut self) {
        self.reads.clear();
    }
    /// Records that a cell equals the sum of a variable and a number.
    pub fn stored(&mut self, var: VarId, by: u64, cell: u32) {
        push(&mut self.copies, (var, by, cell));
    }
    /// The cells that equal a variable.
    pub fn cells_of(&self, var: VarId) -> impl Iterator<Item = u32> + '_ {
        self.copies.iter().filter(move |(copy, by, _)| (*copy, *by) == (var, 0)).map(|(.., cell)| *cell)
    }
    /// The sums of variables and numbers, and the cells that equal them.
    #[cfg(test)]
    pub fn copies(&self) -> impl Iterator<Item = (VarId, u64, u32)> {
        self.copies.iter().copied()
    }
    /// True if two variables are known to be equal.
    pub fn are_equal(&self, a: VarId, b: VarId) -> bool {
        self.sums.contains(&(a, b, 0)) || self.sums.contains(&(b, a, 0))
    }
    /// The recorded sums.
    #[cfg(test)]
    pub fn sums(&self) -> impl Iterator<Item = (VarId, VarId, u64)> {
        self.sums.iter().copied()
    }
    /// The recorded definitions.
    #[cfg(test)]
    pub fn definitions(&self) -> impl Iterator<Item = (VarId, ExprId)> {
        self.definitions.iter().copied()
    }
    /// The expression that a variable equals since its last assignment.
    pub fn definition(&self, var: VarId) -> Option<ExprId> {
        self.definitions.iter().find(|(defined, _)| *defined == var).map(|(_, value)| *value)
    }
    /// Records the read of a byte.
    pub fn read(&mut self, pool: &ExprPool, read: Read, address: ExprId) {
        if !mentions(pool, address, read.var) {
            push(&mut self.reads, (read, address));
        }
    }
    /// Records an assignment. Does nothing if the value depends on the variable.
    pub fn assigned(&mut self, pool: &ExprPool, var: VarId, value: ExprId) {
        if mentions(pool, value, var) {
            return;
        }
        push(&mut self.definitions, (var, value));
        let (base, by) = pool.base_and_offset(value);
        if let Expr::Var(of) = *pool.get(base) {
            push(&mut self.sums, (var, of, by));
            if by == 0 {
                push(&mut self.sums, (of, var, 0));
                self.sizes_of(of).into_iter().for_each(|address| self.sized(pool, var, address));
            }
        }
        let mut narrow = value;
        while let Expr::Zext { arg, .. } | Expr::Sext { arg, .. } = *pool.get(narrow) {
            narrow = arg;
        }
        if let Expr::Var(of) = *pool.get(narrow) {
            let same: Vec<ExprId> = self.reads.iter().filter(|(read, _)| read.var == of).map(|(_, at)| *at).collect();
            let read = Read { var, width: pool.width(value) };
            same.into_iter().for_each(|at| self.read(pool, read, at));
        }
    }
}

/// If `cond ? a : b` is the smaller one of `a` and `b`: true if the comparison is signed.
pub fn minimum(pool: &ExprPool, cond: ExprId, a: ExprId, b: ExprId) -> Option<bool> {
    let (less, greater, op) = match *pool.get(cond) {
        Expr::Binary(op, x, y) => (x, y, op),
        Expr::Unary(UnOp::Not, inner) => match *pool.get(inner) {
            Expr::Binary(op, x, y) => (y, x, op),
            _ => return None,
        },
        _ => return None,
    };
    let is_signed = match op {
        BinOp::Ult | BinOp::Ule => false,
        BinOp::Slt | BinOp::Sle => true,
        _ => return None,
    };
    ((a, b) == (less, greater)).then_some(is_signed)
}

/// Appends an entry, and drops the oldest one if there are too many.
fn push<T>(all: &mut Vec<T>, one: T) {
    if all.len() >= RECENT {
        all.remove(0);
    }
    all.push(one);
}

fn mentions(pool: &ExprPool, e: ExprId, var: VarId) -> bool {
    variables(pool, e).any(|v| v == var)
}

/// The variables of an expression.
pub fn variables(pool: &ExprPool, e: ExprId) -> impl Iterator<Item = VarId> {
    let mut found = Vec::new();
    pool.visit(e, &mut FxHashSet::default(), |_, node| {
        found.extend(if let Expr::Var(v) = node { Some(*v) } else { None })
    });
    found.into_iter()
}
