//! The state of the memory checks of a file, and the gaps after objects.

use cfa::{Leak, Op, Program};

/// The member name of an object that has a gap.
pub const OBJECT: &str = "object";

/// The number of bytes after each object.
pub const GAP: u32 = 64;

/// The state of the memory checks of a file.
pub struct Watch {
    /// The kind of leaks that the program checks.
    pub leak: Option<Leak>,
    /// True if external code has memory whose addresses the program may get.
    pub foreign: bool,
    /// True if the current function has stack objects.
    pub has_frame: bool,
    /// True if the program ends when the current function returns.
    pub ends_program: bool,
    /// True if the current function is the user's main function or the entry function, so that no other function has
    /// live variables.
    pub is_outermost: bool,
}

impl Watch {
    /// The initial state for a program.
    pub fn new(p: &Program) -> Self {
        let leak = p.edges.values().find_map(|e| match e.op {
            Op::Leak(leak) if e.fault.is_some() => Some(leak),
            _ => None,
        });
        Self { leak, foreign: false, has_frame: false, ends_program: false, is_outermost: false }
    }
}

/// The declaration of an object with the gap after it.
pub fn with_gap(declaration: &str, attributes: &str) -> String {
    format!("struct {{ {declaration}{attributes}; unsigned char gap[{GAP}]; }}")
}
