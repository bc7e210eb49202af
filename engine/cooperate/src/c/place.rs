//! Accesses to memory: members and elements of the program's own types where they are one, else so many bytes at an address.

use super::expr::Ty;
use super::file::{File, Object};
use super::kinds;
use super::types::integer_type;
use cfa::{BinOp, CType, Expr, ExprId, FloatFormat, TypeId};

/// An lvalue, or what stands for one that C does not have.
pub enum Access {
    Lvalue(String, Ty),
    /// So many bytes at an address, to be copied.
    Bytes(String, u32),
}

struct Sum {
    base: ExprId,
    constant: u64,
    scaled: Option<(ExprId, u64)>,
}

impl File<'_> {
    /// The object of `width` bits at an address; `hint` is what its value is taken for.
    pub fn access(&mut self, addr: ExprId, width: u32, hint: Ty) -> Access {
        if let Some((text, ty)) = self.typed(addr, width) {
            return Access::Lvalue(text, ty);
        }
        let address = self.pointer(addr);
        let ty = match (hint, width) {
            (Ty::Pointer | Ty::Float(FloatFormat::Single | FloatFormat::Double), _) => hint,
            (Ty::Float(_), _) => return Access::Bytes(address, width.div_ceil(8)),
            (_, 1..=8) => return Access::Lvalue(format!("*(unsigned char *){address}"), Ty::Unsigned(8)),
            (_, 16 | 32 | 64) => Ty::Unsigned(width),
            _ => return Access::Bytes(address, width.div_ceil(8)),
        };
        // Bytes are bytes, whatever was stored there.
        let name = match ty {
            Ty::Pointer => "proviso_pointer".to_owned(),
            Ty::Float(f) => format!("proviso_{}", f.name()),
            _ => format!("proviso_u{width}"),
        };
        let original = match ty {
            Ty::Pointer => "char *".to_owned(),
            Ty::Float(f) => super::types::float_type(f).to_owned(),
            _ => integer_type(width, false).to_owned(),
        };
        self.helper(&format!("_{name}"), || format!("typedef {original} __attribute__((__may_alias__)) {name};\n"));
        Access::Lvalue(format!("*({name} *){address}"), ty)
    }

    /// As members and elements of what the base of the address has as its C type.
    fn typed(&mut self, addr: ExprId, width: u32) -> Option<(String, Ty)> {
        let p = self.p;
        if self.lets.contains_key(&addr) {
            return None;
        }
        let sum = self.sum(addr)?;
        let (mut text, mut ty, direct) = match *p.exprs.get(sum.base) {
            Expr::GlobalAddr(g) => {
                let global = &p.globals[g];
                if p.size_of(global.ty) != Some(global.size) || self.string(g).is_some() {
                    return None;
                }
                (self.global(g), global.ty, true)
            }
            Expr::Var(v) => {
                let var = &p.vars[v];
                let CType::Pointer(to) = *p.plain_type(var.ty) else { return None };
                match self.object(v) {
                    Some(Object { typed: false, .. }) => return None,
                    Some(object) => (object.name.clone(), to, true),
                    None => (self.variable(v).0, to, false),
                }
            }
            _ => return None,
        };
        let (mut offset, mut scaled) = (sum.constant, sum.scaled);
        if !direct {
            let size = p.size_of(ty).filter(|&s| s > 0)?;
            let step = scaled.filter(|(_, factor)| *factor == size);
            let whole = offset / size;
            if step.is_some() || whole > 0 {
                let index = self.index(step.map(|(i, _)| i), whole);
                text = format!("{text}[{index}]");
                offset %= size;
                if step.is_some() {
                    scaled = None;
                }
            } else if matches!(p.plain_type(ty), CType::Struct { .. }) {
                text += "->";
            } else {
                text = format!("(*{text})");
            }
        }
        for _ in 0..20 {
            match p.plain_type(ty) {
                CType::Struct { fields, .. } => {
                    let (n, field) = fields.iter().enumerate().find(|(_, f)| {
                        f.bit_offset <= 8 * offset
                            && 8 * offset < f.bit_offset + f.bit_width.max(1)
                            && f.bit_offset.is_multiple_of(8)
                            && u64::from(width.div_ceil(8)) * 8 <= f.bit_width
                            && p.size_of(f.ty).is_some_and(|s| 8 * s == f.bit_width)
                    })?;
                    let name = self.types.member(ty, n, &mut self.names)?;
                    let dot = if text.ends_with("->") { "" } else { "." };
                    text = format!("{text}{dot}{name}");
                    offset -= field.bit_offset / 8;
                    ty = field.ty;
                }
                &CType::Array(of, n) => {
                    let size = p.size_of(of).filter(|&s| s > 0)?;
                    let step = scaled.filter(|(_, factor)| *factor == size);
                    if step.is_none() && n.is_some_and(|n| offset / size >= n) {
                        return None;
                    }
                    let index = self.index(step.map(|(i, _)| i), offset / size);
                    text = format!("{text}[{index}]");
                    if step.is_some() {
                        scaled = None;
                    }
                    offset %= size;
                    ty = of;
                }
                _ => break,
            }
        }
        if offset != 0 || scaled.is_some() {
            return None;
        }
        // A `_Bool` is one byte, of which more than one bit may be looked at.
        self.complete_access(ty, width).map(|ty| (text, ty))
    }

    fn complete_access(&mut self, ty: TypeId, width: u32) -> Option<Ty> {
        let fits = self.p.size_of(ty).is_some_and(|s| 8 * s == u64::from(width));
        let kind = kinds::of_type(self.p, ty, width)?;
        if fits && kind != Ty::Bool { Some(kind) } else { None }
    }

    fn index(&mut self, symbolic: Option<ExprId>, constant: u64) -> String {
        let p = self.p;
        let Some(i) = symbolic else { return constant.to_string() };
        let text = match *p.exprs.get(i) {
            _ if self.lets.contains_key(&i) => self.signed(i),
            Expr::Sext { arg, .. } => self.signed(arg),
            Expr::Zext { arg, .. } => self.bits(arg),
            _ => return if constant == 0 { self.signed(i) } else { format!("{} + {constant}", self.signed(i)) },
        };
        // The sum is one of addresses, so it must not be cut to the index's own width.
        if constant == 0 { text } else { format!("(long){text} + {constant}") }
    }

    /// An address as a base, a constant and at most one product.
    fn sum(&mut self, addr: ExprId) -> Option<Sum> {
        let p = self.p;
        let mut sum = Sum { base: addr, constant: 0, scaled: None };
        if let Expr::Binary(BinOp::Add, a, k) = *p.exprs.get(addr)
            && let Some(k) = p.exprs.as_const(k)
        {
            sum.constant = k.to_i64().and_then(|k| u64::try_from(k).ok())?;
            sum.base = a;
        }
        if let Expr::Binary(BinOp::Add, a, b) = *p.exprs.get(sum.base) {
            let is_base = |e: ExprId| match *p.exprs.get(e) {
                Expr::GlobalAddr(_) => true,
                Expr::Var(v) => matches!(p.plain_type(p.vars[v].ty), CType::Pointer(_)),
                _ => false,
            };
            // Operands are in order of their ids.
            let (base, product) = match (is_base(a), is_base(b)) {
                (true, false) => (a, b),
                (false, true) => (b, a),
                _ => return None,
            };
            sum.base = base;
            sum.scaled = Some(match *p.exprs.get(product) {
                Expr::Binary(BinOp::Mul, i, k) => (i, p.exprs.as_const(k)?.to_u64()?),
                _ => (product, 1),
            });
        }
        Some(sum)
    }
}
