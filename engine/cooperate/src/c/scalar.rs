//! Scalar C types, and the texts of their values.

use super::types::integer_type;
use cfa::text::exact::ScalarType;
use cfa::{CType, FloatFormat, Program, TypeId};

/// The kind of value that an expression yields without conversion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// An integer.
    Bits,
    /// A pointer.
    Pointer,
    /// A float.
    Float(FloatFormat),
}

/// The C type of a value of this width and declared type; `None` if that is no scalar of this width.
pub fn of_type(p: &Program, ty: TypeId, width: u32) -> Option<ScalarType> {
    match *p.plain_type(ty) {
        CType::Int { width: w, signed, .. } | CType::Enum { width: w, signed, .. } if w == width => {
            Some(if signed { ScalarType::Signed(w) } else { ScalarType::Unsigned(w) })
                .filter(|_| matches!(w, 8 | 16 | 32 | 64 | 128))
        }
        CType::Bool if width == 1 => Some(ScalarType::Bool),
        CType::Pointer(_) if width == p.layout.pointer_width => Some(ScalarType::Pointer),
        CType::Float { format, .. } if format.width() == width => Some(ScalarType::Float(format)),
        _ => None,
    }
}

/// The type of an object without debug information, with a space where a name may follow.
pub fn raw_type(ty: ScalarType, width: u32) -> String {
    match ty {
        ScalarType::Pointer => "char *".to_owned(),
        ScalarType::Float(f) => format!("{} ", f.c_name()),
        ScalarType::Bool => "_Bool ".to_owned(),
        ScalarType::Signed(_) => format!("{} ", integer_type(width, true)),
        ScalarType::Unsigned(_) => format!("{} ", integer_type(width, false)),
    }
}

/// The bytes as a C string literal.
pub fn string_literal(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for &b in bytes {
        match b {
            b'"' | b'\\' => {
                text.push('\\');
                text.push(b as char);
            }
            b'\n' => text += "\\n",
            // `??` could start a trigraph.
            b'?' => text += "\\?",
            0x20..=0x7e => text.push(b as char),
            _ => text += &format!("\\{b:03o}"),
        }
    }
    text + "\""
}

/// Removes parentheses around the whole text.
pub fn strip(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) else { return text };
    let mut depth = 0i32;
    // Texts with character or string literals keep their parentheses.
    if inner.contains(['"', '\'']) {
        return text;
    }
    for c in inner.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return text;
        }
    }
    inner
}
