//! The states of symbolic execution.

use crate::semantics;
use cfa::{EdgeId, TaintId};
use std::ops::{Deref, DerefMut};

/// An operation that adds behaviours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Past {
    Approximation(TaintId),
    /// A read that C does not define, which may give anything.
    InvalidRead(EdgeId),
}

/// One path.
#[derive(Clone)]
pub struct State {
    pub path: semantics::State,
    /// The path went through an operation that adds behaviours.
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
