//! Well-formedness of programs.

use crate::program::*;

/// A type that goes through pointers, arrays, names and qualifiers without end (or very far).
pub(crate) fn endless_type(program: &Program) -> Option<TypeId> {
    const MAX_NESTING: u32 = 500;
    program.types.ids().find(|&start| {
        let mut ty = start;
        (0..MAX_NESTING).all(|_| match program.types.get(ty) {
            Some(
                CType::Pointer(inner)
                | CType::Array(inner, _)
                | CType::Typedef { ty: inner, .. }
                | CType::Qualified { ty: inner, .. },
            ) => {
                ty = *inner;
                true
            }
            _ => false,
        })
    })
}
