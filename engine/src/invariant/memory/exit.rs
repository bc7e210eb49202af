//! The exits of functions.

use super::environment::Environment;
use crate::invariant::value::Value;

/// The environment at the return from a function: globals, memory, and the parameters that the function does not write.
#[derive(Clone)]
pub(in crate::invariant) struct Exit {
    /// The environment.
    pub env: Environment,
    /// The return value.
    pub value: Option<Value>,
}

/// Number of kinds of exits.
pub(in crate::invariant) const KINDS: usize = 3;

impl Exit {
    /// The kind of the exit: 0 if the result is zero or null, 1 if it is negative, and 2 otherwise. Exits of different
    /// kinds are kept apart, since such a result often indicates which effects occurred.
    pub fn kind(&self) -> usize {
        match &self.value {
            Some(value) if value.as_constant() == Some(0) => 0,
            Some(value) if value.width() > 1 && value.range.max < 0 => 1,
            _ => 2,
        }
    }
}
