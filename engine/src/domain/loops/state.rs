//! The states of unrolling.

use crate::domain::symbolic;
use crate::semantics::ObjId;
use cfa::ExprId;
use cfa::VarId;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// A loop or a call of a recursive function that a path is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Activation {
    /// Its number.
    pub number: u32,
    /// Frames below the loop's, or below the function's.
    pub depth: u32,
    /// Objects allocated when it was entered.
    pub allocated: u32,
    pub role: Role,
}

/// What an activation stands for where loops and recursions are replaced by invariants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// The iteration of this number, from 1, since the loop was entered.
    First(u32),
    /// The iteration of this number of a loop that is followed to its end.
    Followed(u32),
    /// An iteration anywhere; the number counts the iterations of this path, from 1.
    Any(u32),
    /// Any call of a recursive function; which values it began with is kept at this index.
    Call(u32),
}

/// What a path is in the midst of.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Nest {
    /// The loops and recursions that the path is in, outermost first.
    pub active: Rc<Vec<Activation>>,
    /// Pointers that loops may move, by loop and variable, with the object they stay in.
    pub anchors: Rc<Vec<((u32, VarId), ObjId)>>,
    /// The addresses that the loops move, which the path is in.
    pub walks: Rc<Vec<Walk>>,
}

/// A state of symbolic execution and where it is in loops and recursions.
#[derive(Clone)]
pub struct State {
    pub symbolic: symbolic::State,
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

/// An address that a loop which a path is in moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Walk {
    /// Of the loop, among those that the path is in.
    pub(super) activation: usize,
    /// Among the addresses of the loop.
    pub(super) number: usize,
    pub(super) object: ObjId,
    /// The offset that it does not get beyond.
    pub(super) limit: ExprId,
    /// Whether there is a null byte.
    pub(super) ends: bool,
}
