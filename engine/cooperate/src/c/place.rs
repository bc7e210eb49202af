//! Memory accesses: members and elements of the program's own types where possible, otherwise bytes at an address.

use super::file::{self, File};
use super::path::{Path, PathStep};
use super::scalar::strip;
use super::scope::StackVariable;
use super::types::integer_type;
use cfa::text::exact::{ExactPrinter, ScalarType};
use cfa::{Expr, ExprId, FloatFormat};

/// The target of an access.
pub enum Access {
    /// An lvalue and its type.
    Lvalue(String, ScalarType),
    /// An address and a number of bytes. C has no lvalue for it, so the bytes are copied.
    Bytes(String, u32),
}

impl File<'_> {
    /// The access to `width` bits at an address. `hint` is the type of the value.
    pub fn access(&mut self, addr: ExprId, width: u32, hint: ScalarType) -> Access {
        if let Some((text, ty)) = self.typed(addr, width) {
            return Access::Lvalue(text, ty);
        }
        let address = self.pointer(addr);
        let ty = match (hint, width) {
            (ScalarType::Pointer | ScalarType::Float(FloatFormat::Single | FloatFormat::Double), _) => hint,
            (ScalarType::Float(_), _) => return Access::Bytes(address, width.div_ceil(8)),
            (_, 1..=8) => return Access::Lvalue(format!("*(unsigned char *){address}"), ScalarType::Unsigned(8)),
            (_, 16 | 32 | 64) => ScalarType::Unsigned(width),
            _ => return Access::Bytes(address, width.div_ceil(8)),
        };
        // The accessed bytes may have been stored with any type.
        let name = match ty {
            ScalarType::Pointer => "proviso_pointer".to_owned(),
            ScalarType::Float(f) => format!("proviso_{}", f.name()),
            _ => format!("proviso_u{width}"),
        };
        let original = match ty {
            ScalarType::Pointer => "char *".to_owned(),
            ScalarType::Float(f) => f.c_name().to_owned(),
            _ => integer_type(width, false).to_owned(),
        };
        self.helper(&format!("_{name}"), format!("typedef {original} __attribute__((__may_alias__)) {name};\n"));
        Access::Lvalue(format!("*({name} *){address}"), ty)
    }

    /// The access as members and elements of the C type of the address's base.
    fn typed(&mut self, addr: ExprId, width: u32) -> Option<(String, ScalarType)> {
        let p = self.p;
        if self.scope.part(addr).is_some() {
            return None;
        }
        let path = Path::find(p, addr, width)?;
        let mut text = match *p.exprs.get(path.base) {
            Expr::GlobalAddr(g) if file::string(self, g).is_none() && self.is_typed(g) => self.global(g),
            Expr::GlobalAddr(_) => return None,
            Expr::Var(v) => match self.scope.object(v) {
                Some(StackVariable { typed: false, .. }) => return None,
                Some(object) => {
                    // The object is a C variable, so no pointer is dereferenced.
                    let name = object.name.clone();
                    match path.steps.first() {
                        Some(PathStep::Index(None, 0) | PathStep::Target) => name,
                        _ => format!("(&{name})"),
                    }
                }
                None => self.variable(v).0,
            },
            _ => return None,
        };
        let is_object = matches!(*p.exprs.get(path.base), Expr::Var(v) if self.scope.object(v).is_some());
        for (n, step) in path.steps.iter().enumerate() {
            text = match *step {
                PathStep::Target if is_object && n == 0 => text,
                PathStep::Target if matches!(path.steps.get(1), Some(PathStep::Member(..))) => format!("{text}->"),
                PathStep::Target => format!("(*{text})"),
                PathStep::Index(symbolic, constant) => format!("{text}[{}]", strip(&self.index(symbolic, constant))),
                PathStep::Member(ty, field) => {
                    let name = self.member(ty, field)?;
                    let dot = if text.ends_with("->") { "" } else { "." };
                    format!("{text}{dot}{name}")
                }
            };
        }
        Some((text, path.ty))
    }
}

impl File<'_> {
    /// An index in C.
    fn index(&mut self, symbolic: Option<ExprId>, constant: u64) -> String {
        let p = self.p;
        let Some(i) = symbolic else { return constant.to_string() };
        let text = match *p.exprs.get(i) {
            _ if self.scope.part(i).is_some() => self.signed(i),
            Expr::Sext { arg, .. } => self.signed(arg),
            Expr::Zext { arg, .. } => self.bits(arg),
            _ => return if constant == 0 { self.signed(i) } else { format!("{} + {constant}", self.signed(i)) },
        };
        // The sum is an address, so it must not be truncated to the width of the index.
        if constant == 0 { text } else { format!("(long){text} + {constant}") }
    }
}
