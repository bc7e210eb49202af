//! What is left of an analysis that panicked.

use crate::composition::Analysis;
use crate::verdict::Reason;
use std::any::Any;

/// An analysis that ended by a panic, which is a defect of ours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Crash {
    pub analysis: Analysis,
    /// What the panic said.
    pub message: String,
}

impl Crash {
    /// `panic` is what unwinding carries.
    pub(crate) fn new(analysis: Analysis, panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Self { analysis, message: text.unwrap_or("panic").into() }
    }

    pub(crate) fn reason(&self) -> Reason {
        Reason::new(format!("internal error: {}", self.message))
    }
}
