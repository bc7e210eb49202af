//! How functions return.

use super::environment::Environment;
use crate::invariant::value::Value;

/// What holds on return from a function: of globals, and of the parameters that it does not write.
#[derive(Clone)]
pub(in crate::invariant) struct Exit {
    pub env: Environment,
    pub value: Option<Value>,
}

/// Kinds of exits.
pub(in crate::invariant) const KINDS: usize = 3;

impl Exit {
    /// Those that give null back, or a number below it, are told apart: they say of what else they do whether it was done.
    pub fn kind(&self) -> usize {
        match &self.value {
            Some(value) if value.as_constant() == Some(0) => 0,
            Some(value) if value.width() > 1 && value.range.max < 0 => 1,
            _ => 2,
        }
    }
}
