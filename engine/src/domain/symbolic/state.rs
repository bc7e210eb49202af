//! The states of symbolic execution.

use crate::semantics;
use cfa::{EdgeId, TaintId};
use std::ops::{Deref, DerefMut};

/// An operation on the path that over-approximates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Past {
    /// An `Approx` edge.
    Approximation(TaintId),
    /// A read with undefined behaviour that yields an arbitrary value.
    InvalidRead(EdgeId),
}

/// A path state with its over-approximation.
#[derive(Clone)]
pub struct State {
    /// The path state.
    pub path: semantics::State,
    /// The first over-approximating operation on the path, if there is one.
    pub past: Option<Past>,
}

impl Deref for State {
    type Target = semantics::State;
    #[inline]
    fn deref(&self) -> &semantics::State {
        &self.path
    }
}

impl DerefMut for State {
    #[inline]
    fn deref_mut(&mut self) -> &mut semantics::State {
        &mut self.path
    }
}
