//! Constants and types in C notation.

use super::*;

pub(super) fn width_or_zero(pool: &ExprPool, e: ExprId) -> u32 {
    match pool.sort(e) {
        crate::expr::Sort::Bv(width) => width,
        crate::expr::Sort::Array { .. } => 0,
    }
}

/// Prints a constant as a signed decimal number, or as a hexadecimal number if it is large.
pub(super) fn constant(c: &Bv) -> String {
    match c.to_i64() {
        _ if c.width() == 1 => c.to_string(),
        Some(value) if value.unsigned_abs() < 1 << 32 || c.width() <= 32 => value.to_string(),
        _ => format!("{:#x}", c.to_biguint()),
    }
}

pub(super) fn int_name(width: u32, signed: bool) -> String {
    let name = match (width, signed) {
        (1, _) => "_Bool",
        (8, true) => "signed char",
        (8, false) => "unsigned char",
        (16, true) => "short",
        (16, false) => "unsigned short",
        (32, true) => "int",
        (32, false) => "unsigned",
        (64, true) => "long long",
        (64, false) => "unsigned long long",
        (128, true) => "__int128",
        (128, false) => "unsigned __int128",
        (_, true) => return format!("_BitInt({width})"),
        (_, false) => return format!("unsigned _BitInt({width})"),
    };
    name.to_owned()
}
