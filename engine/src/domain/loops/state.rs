//! The states of unrolling.

use crate::domain::symbolic;
use crate::semantics::ObjId;
use cfa::ExprId;
use cfa::VarId;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// A loop, or a call of a recursive function, that a path is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Activation {
    /// The number of the loop or recursive function.
    pub number: u32,
    /// The number of frames below that of the loop or call.
    pub depth: u32,
    /// The number of objects allocated when it was entered.
    pub allocated: u32,
    /// The role of the iteration or call in the proof.
    pub role: Role,
}

/// The role of an activation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The n-th iteration since the entry, from 1.
    First(u32),
    /// The n-th iteration, from 1, of a loop that is unrolled completely.
    Followed(u32),
    /// An arbitrary iteration. The number counts the iterations on this path, from 1.
    Any(u32),
    /// An arbitrary call of a recursive function. The index leads to the values at its entry.
    Call(u32),
}

/// The loops and calls that a path is in, with what is assumed about their pointers.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Nest {
    /// The active loops and calls, outermost first.
    pub active: Rc<Vec<Activation>>,
    /// For each loop and variable, the object that the pointer is assumed to stay in.
    pub anchors: Rc<Vec<((u32, VarId), ObjId)>>,
    /// The addresses that the active loops move.
    pub walks: Rc<Vec<Walk>>,
}

/// A state of symbolic execution, with the loops and calls that it is in.
#[derive(Clone)]
pub struct State {
    /// The state of symbolic execution.
    pub symbolic: symbolic::State,
    /// The loops and calls.
    pub nest: Nest,
}

impl Deref for State {
    type Target = symbolic::State;
    #[inline]
    fn deref(&self) -> &symbolic::State {
        &self.symbolic
    }
}

impl DerefMut for State {
    #[inline]
    fn deref_mut(&mut self) -> &mut symbolic::State {
        &mut self.symbolic
    }
}

/// An address that an active loop moves, with its assumed bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walk {
    /// The index of the loop among the active ones.
    pub(super) activation: usize,
    /// The index among the addresses of the loop.
    pub(super) number: usize,
    /// The object of the address.
    pub(super) object: ObjId,
    /// The largest offset that the address reaches.
    pub(super) limit: ExprId,
    /// True if the limit is the offset of a null byte.
    pub(super) ends: bool,
}
