//! The states of tracking.

use crate::domain::predicate::Cut;
use crate::domain::symbolic;
use crate::domain::value::Seen;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// A state of symbolic execution of which something may have been forgotten.
#[derive(Clone)]
pub struct State {
    pub symbolic: symbolic::State,
    pub along: Along,
}

/// What is kept of the way to a state.
#[derive(Clone, Default)]
pub struct Along {
    /// The states that were abstracted on it, where predicates are tracked.
    pub history: Option<Rc<Cut>>,
    /// Values that tracked variables had at heads of loops, while they are few.
    pub values: Seen,
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

impl State {
    /// States abstracted on the way.
    pub fn depth(&self) -> u32 {
        self.along.history.as_ref().map_or(0, |cut| cut.depth + 1)
    }
}
