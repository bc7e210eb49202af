//! Analyses that panicked.

use crate::composition::Analysis;
use crate::verdict::{Reason, ReasonKind};
use std::any::Any;

/// An analysis that panicked, which is a defect of the verifier.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crash {
    /// The analysis that panicked.
    pub analysis: Analysis,
    /// The panic message.
    pub message: String,
}

impl Crash {
    /// Takes the message from the payload of a panic.
    pub(crate) fn new(analysis: Analysis, panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Self { analysis, message: text.unwrap_or("panic").into() }
    }

    pub(crate) fn reason(&self) -> Reason {
        Reason::new(format!("internal error: {}", self.message)).of_kind(ReasonKind::Stated)
    }
}
