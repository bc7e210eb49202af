//! Values of symbolic execution. A concrete value of at most 64 bits is a machine word.

use cfa::{BinOp, Bv, Expr, ExprId, ExprPool, SymId, UnOp};

cfa::id_type!(
    /// A memory object of a path. The program's globals come first, then the executed allocations in order. Two paths
    /// that allocate in the same order use the same ids.
    ObjId, "o"
);

impl ObjId {
    const SHADOW: u32 = 1 << 31;
    /// The shadow of this object. A shadow has no address.
    pub fn shadow(self) -> Self {
        Self(self.0 | Self::SHADOW)
    }
    /// True if this id denotes a shadow.
    #[inline]
    pub fn is_shadow(self) -> bool {
        self.0 & Self::SHADOW != 0
    }
    /// The index of the object. A shadow has the index of its object.
    #[inline]
    pub fn number(self) -> usize {
        (self.0 & !Self::SHADOW) as usize
    }
}

/// A value. The variable or expression that has the value determines the width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Val {
    /// A constant of at most 64 bits. The bits above its width are zero.
    Int(u64),
    /// The address of an object plus a constant offset, modulo the pointer width.
    Ptr(ObjId, u64),
    /// A term that is neither a constant of at most 64 bits nor an object's address plus a constant.
    Expr(ExprId),
    /// The value of a local variable that has not been written.
    Unset,
    /// Any value. An abstraction does not track it.
    Unknown,
}

/// The low `width` bits of a value.
#[inline]
pub fn mask(width: u32, value: u64) -> u64 {
    if width >= 64 { value } else { value & ((1 << width) - 1) }
}

/// Interprets the low `width` bits as a signed number. `width` is between 1 and 64.
#[inline]
pub fn sign_extend(width: u32, value: u64) -> i64 {
    let unused = 64 - width;
    ((value << unused) as i64) >> unused
}

/// The result of `op` on constants of `width <= 64` bits. `None` for concatenation.
#[inline]
pub fn binary_int(op: BinOp, width: u32, a: u64, b: u64) -> Option<u64> {
    Some(match op {
        BinOp::Add => mask(width, a.wrapping_add(b)),
        BinOp::Sub => mask(width, a.wrapping_sub(b)),
        BinOp::Mul => mask(width, a.wrapping_mul(b)),
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl => {
            if b >= u64::from(width) {
                0
            } else {
                mask(width, a << b)
            }
        }
        BinOp::LShr => {
            if b >= u64::from(width) {
                0
            } else {
                a >> b
            }
        }
        BinOp::AShr => mask(width, (sign_extend(width, a) >> b.min(63)) as u64),
        BinOp::Eq => u64::from(a == b),
        BinOp::Ult => u64::from(a < b),
        BinOp::Ule => u64::from(a <= b),
        BinOp::Slt => u64::from(sign_extend(width, a) < sign_extend(width, b)),
        BinOp::Sle => u64::from(sign_extend(width, a) <= sign_extend(width, b)),
        BinOp::UDiv if b != 0 => a / b,
        BinOp::URem if b != 0 => a % b,
        _ => return BinOp::apply(op, &Bv::new(width, a), &Bv::new(width, b)).to_u64().filter(|_| op != BinOp::Concat),
    })
}

/// The result of `op` on a constant of `width <= 64` bits.
#[inline]
pub fn unary_int(op: UnOp, width: u32, a: u64) -> u64 {
    match op {
        UnOp::Not => mask(width, !a),
        UnOp::Neg => mask(width, a.wrapping_neg()),
    }
}

/// The symbols for the addresses of objects. All paths share them; each path condition has the constraints on them.
#[derive(Clone, Default)]
pub struct Bases {
    of_object: Vec<Option<ExprId>>,
    of_symbol: Vec<Option<ObjId>>,
}

impl Bases {
    /// The symbol for the address of `object`, created on the first call.
    pub fn symbol(&mut self, pool: &mut ExprPool, object: ObjId, pointer_width: u32) -> ExprId {
        let index = object.0 as usize;
        if index >= self.of_object.len() {
            self.of_object.resize(index + 1, None);
        }
        if let Some(e) = self.of_object[index] {
            return e;
        }
        let (symbol, e) = pool.fresh_symbol(cfa::Sort::Bv(pointer_width));
        self.of_object[index] = Some(e);
        let index = symbol.0 as usize;
        if index >= self.of_symbol.len() {
            self.of_symbol.resize(index + 1, None);
        }
        self.of_symbol[index] = Some(object);
        e
    }
    /// The object whose address `symbol` is, if there is one.
    #[inline]
    pub fn object(&self, symbol: SymId) -> Option<ObjId> {
        self.of_symbol.get(symbol.0 as usize).copied().flatten()
    }
    /// The canonical value of a term: a number, an object with an offset, or the term itself.
    #[inline]
    pub fn classify(&self, pool: &ExprPool, e: ExprId) -> Val {
        match *pool.get(e) {
            Expr::Const(ref c) if c.width() <= 64 => Val::Int(c.to_u64().expect("at most 64 bits")),
            _ => {
                let (base, offset) = pool.base_and_offset(e);
                let object = if let Expr::Sym(s) = *pool.get(base) { self.object(s) } else { None };
                object.map_or(Val::Expr(e), |object| Val::Ptr(object, offset))
            }
        }
    }
}
