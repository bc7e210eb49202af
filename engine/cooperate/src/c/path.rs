//! Paths to members and elements of the program's own types.

use super::scalar::of_type;
use cfa::text::exact::ScalarType;
use cfa::{Address, CType, Expr, ExprId, Program, TypeId};

/// A path from a base to a scalar within it, through their C types.
pub struct Path {
    /// The variable or global that the path starts at.
    pub base: ExprId,
    /// The steps from the base.
    pub steps: Vec<PathStep>,
    /// The type of the scalar.
    pub ty: ScalarType,
}

/// A step from an object to one of its parts in a C expression.
pub enum PathStep {
    /// The target of the base.
    Target,
    /// An element of an array, or at an offset from a pointer: a symbolic index plus a constant.
    Index(Option<ExprId>, u64),
    /// A member of a struct, by its index.
    Member(TypeId, usize),
}

impl Path {
    /// The path to the scalar of `width` bits at an address, if types determine one.
    pub fn find(p: &Program, addr: ExprId, width: u32) -> Option<Self> {
        let is_base = |e: ExprId| match *p.exprs.get(e) {
            Expr::GlobalAddr(_) => true,
            Expr::Var(v) => matches!(p.plain_type(p.vars[v].ty), CType::Pointer(_)),
            _ => false,
        };
        let Address { base, mut offset, index: mut scaled } = Address::split(&p.exprs, addr, is_base)?;
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
                    steps.push(PathStep::Index(step.map(|(i, _)| i), whole));
                    offset %= size;
                } else {
                    steps.push(PathStep::Target);
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
                    steps.push(PathStep::Member(ty, n));
                    offset -= field.bit_offset / 8;
                    ty = field.ty;
                }
                &CType::Array(of, n) => {
                    let size = p.size_of(of).filter(|&s| s > 0)?;
                    let step = scaled.take_if(|(_, factor)| *factor == size);
                    if step.is_none() && n.is_some_and(|n| offset / size >= n) {
                        return None;
                    }
                    steps.push(PathStep::Index(step.map(|(i, _)| i), offset / size));
                    offset %= size;
                    ty = of;
                }
                _ => break,
            }
        }
        let fits = p.size_of(ty).is_some_and(|s| 8 * s == u64::from(width));
        let scalar = of_type(p, ty, width).filter(|&scalar| scalar != ScalarType::Bool)?;
        (offset == 0 && scaled.is_none() && fits).then_some(Self { base, steps, ty: scalar })
    }
}
