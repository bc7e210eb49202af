//! The origin of a bad value, such as a null pointer, in terms of C.

use crate::source::Spot;

/// The operation that created the bad value of an invalid access.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    /// The kind of the bad value.
    pub kind: OriginKind,
    /// The source position of the operation.
    pub spot: Spot,
    /// The library function that returned the value, if one did.
    pub function: Option<String>,
}

/// The kind of a bad value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OriginKind {
    /// A null pointer.
    Null,
    /// The null pointer that a failed allocation returned.
    FailedAllocation,
    /// A value that was read from memory which was never written, or by an access that is itself invalid.
    Unset,
}

impl Origin {
    /// Returns the text of a note at the source position of the origin.
    pub fn text(&self) -> String {
        match (self.kind, &self.function) {
            (OriginKind::FailedAllocation, _) => "the allocation here fails and gives a null pointer".to_owned(),
            (OriginKind::Null, Some(function)) => format!("`{function}` returns null here"),
            (OriginKind::Null, None) => "the null pointer comes from here".to_owned(),
            (OriginKind::Unset, _) => "the value is read here, where nothing was written".to_owned(),
        }
    }
}
