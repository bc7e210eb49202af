//! The states of the tracking domain.

use crate::domain::predicate::Cut;
use crate::domain::symbolic;
use crate::domain::value::Seen;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// A path state with the history that abstractions need.
#[derive(Clone)]
pub struct State {
    /// The path state.
    pub symbolic: symbolic::State,
    /// The history of the path that leads to the state.
    pub along: Along,
}

/// The history of a path.
#[derive(Clone, Default)]
pub struct Along {
    /// The abstraction points of the path, if predicates are tracked.
    pub history: Option<Rc<Cut>>,
    /// The values that tracked variables had at loop heads.
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
    /// The number of abstractions on the path.
    pub fn depth(&self) -> u32 {
        self.along.history.as_ref().map_or(0, |cut| cut.depth + 1)
    }
}
