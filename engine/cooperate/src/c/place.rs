//! Memory accesses: members and elements of the program's own types where possible, otherwise bytes at an address.

use super::code::strip;
use super::expr::Ty;
use super::file::{self, File, Object};
use super::kinds;
use super::types::integer_type;
use cfa::{BinOp, CType, Expr, ExprId, FloatFormat, Program, TypeId};

/// The target of an access.
pub enum Access {
    /// An lvalue and its type.
    Lvalue(String, Ty),
    /// An address and a number of bytes. C has no lvalue for it, so the bytes are copied.
    Bytes(String, u32),
}

impl File<'_> {
    /// The access to `width` bits at an address. `hint` is the type of the value.
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
        // The accessed bytes may have been stored with any type.
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

    /// The access as members and elements of the C type of the address's base.
    fn typed(&mut self, addr: ExprId, width: u32) -> Option<(String, Ty)> {
        let p = self.p;
        if self.lets.contains_key(&addr) {
            return None;
        }
        let path = Path::of(p, addr, width)?;
        let mut text = match *p.exprs.get(path.base) {
            Expr::GlobalAddr(g) if file::string(self, g).is_none() && self.is_typed(g) => self.global(g),
            Expr::GlobalAddr(_) => return None,
            Expr::Var(v) => match self.objects.get(&v) {
                Some(Object { typed: false, .. }) => return None,
                Some(object) => {
                    // The object is a C variable, so no pointer is dereferenced.
                    let name = object.name.clone();
                    match path.steps.first() {
                        Some(Step::Index(None, 0) | Step::Target) => name,
                        _ => format!("(&{name})"),
                    }
                }
                None => self.variable(v).0,
            },
            _ => return None,
        };
        let is_object = matches!(*p.exprs.get(path.base), Expr::Var(v) if self.objects.contains_key(&v));
        for (n, step) in path.steps.iter().enumerate() {
            text = match *step {
                Step::Target if is_object && n == 0 => text,
                Step::Target if matches!(path.steps.get(1), Some(Step::Member(..))) => format!("{text}->"),
                Step::Target => format!("(*{text})"),
                Step::Index(symbolic, constant) => format!("{text}[{}]", strip(&index(self, symbolic, constant))),
                Step::Member(ty, field) => {
                    let name = self.types.member(ty, field, &mut self.names)?;
                    let dot = if text.ends_with("->") { "" } else { "." };
                    format!("{text}{dot}{name}")
                }
            };
        }
        Some((text, path.ty))
    }
}

/// An index in C.
fn index(file: &mut File, symbolic: Option<ExprId>, constant: u64) -> String {
    let p = file.p;
    let Some(i) = symbolic else { return constant.to_string() };
    let text = match *p.exprs.get(i) {
        _ if file.lets.contains_key(&i) => file.signed(i),
        Expr::Sext { arg, .. } => file.signed(arg),
        Expr::Zext { arg, .. } => file.bits(arg),
        _ => return if constant == 0 { file.signed(i) } else { format!("{} + {constant}", file.signed(i)) },
    };
    // The sum is an address, so it must not be truncated to the width of the index.
    if constant == 0 { text } else { format!("(long){text} + {constant}") }
}

/// A path from a base to a scalar within it, through their C types.
pub struct Path {
    base: ExprId,
    steps: Vec<Step>,
    /// The type of the scalar.
    pub ty: Ty,
}

/// A step from an object to one of its parts in a C expression.
enum Step {
    /// The target of the base.
    Target,
    /// An element of an array, or at an offset from a pointer: a symbolic index plus a constant.
    Index(Option<ExprId>, u64),
    /// A member of a struct, by its index.
    Member(TypeId, usize),
}

impl Path {
    /// The path to the scalar of `width` bits at an address, if types determine one.
    pub fn of(p: &Program, addr: ExprId, width: u32) -> Option<Self> {
        let Sum { base, constant: mut offset, mut scaled } = Sum::of(p, addr)?;
        let mut steps = Vec::new();
        let mut ty = match *p.exprs.get(base) {
            Expr::GlobalAddr(g) => {
                let global = &p.globals[g];
                if p.size_of(global.ty) != Some(global.size) {
                    return None;
                }
                global.ty
            }
            Expr::Var(v) => {
                let CType::Pointer(to) = *p.plain_type(p.vars[v].ty) else { return None };
                let size = p.size_of(to).filter(|&s| s > 0)?;
                let step = scaled.take_if(|(_, factor)| *factor == size);
                let whole = offset / size;
                if step.is_some() || whole > 0 {
                    steps.push(Step::Index(step.map(|(i, _)| i), whole));
                    offset %= size;
                } else {
                    steps.push(Step::Target);
                }
                to
            }
            _ => return None,
        };
        for _ in 0..20 {
            match p.plain_type(ty) {
                CType::Struct { fields, .. } => {
                    let mut fitting = fields.iter().enumerate().filter(|(_, f)| {
                        f.bit_offset <= 8 * offset
                            && 8 * offset < f.bit_offset + f.bit_width.max(1)
                            && f.bit_offset.is_multiple_of(8)
                            && u64::from(width.div_ceil(8)) * 8 <= f.bit_width
                            && p.size_of(f.ty).is_some_and(|s| 8 * s == f.bit_width)
                    });
                    let (n, field) = fitting.next()?;
                    // If several members of a union fit, the intended one is unknown.
                    if fitting.next().is_some() {
                        return None;
                    }
                    steps.push(Step::Member(ty, n));
                    offset -= field.bit_offset / 8;
                    ty = field.ty;
                }
                &CType::Array(of, n) => {
                    let size = p.size_of(of).filter(|&s| s > 0)?;
                    let step = scaled.take_if(|(_, factor)| *factor == size);
                    if step.is_none() && n.is_some_and(|n| offset / size >= n) {
                        return None;
                    }
                    steps.push(Step::Index(step.map(|(i, _)| i), offset / size));
                    offset %= size;
                    ty = of;
                }
                _ => break,
            }
        }
        let fits = p.size_of(ty).is_some_and(|s| 8 * s == u64::from(width));
        let scalar = kinds::of_type(p, ty, width).filter(|&scalar| scalar != Ty::Bool)?;
        (offset == 0 && scaled.is_none() && fits).then_some(Self { base, steps, ty: scalar })
    }
}

/// An address as the sum of a base, a constant, and at most one product.
struct Sum {
    base: ExprId,
    constant: u64,
    scaled: Option<(ExprId, u64)>,
}

impl Sum {
    fn of(p: &Program, addr: ExprId) -> Option<Self> {
        let mut sum = Self { base: addr, constant: 0, scaled: None };
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
            // Operands are in the order of their ids.
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
