//! The states of symbolic execution.

use crate::execution;
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
    pub path: execution::State,
    /// The path went through an operation that adds behaviours.
    pub past: Option<Past>,
}

impl Deref for State {
    type Target = execution::State;
    #[inline]
    fn deref(&self) -> &execution::State {
        &self.path
    }
}

impl DerefMut for State {
    #[inline]
    fn deref_mut(&mut self) -> &mut execution::State {
        &mut self.path
    }
}
