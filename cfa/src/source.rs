//! Source positions.

use crate::index::id_type;

id_type!(
    /// A source file.
    FileId, "file"
);
id_type!(
    /// A source position. Equal positions have equal ids.
    PlaceId, "p"
);

/// A source file.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceFile {
    /// The path on the compiler's command line. A relative path is resolved against the compilation directory.
    pub path: String,
}

/// A line and column of a file, with the chain of inlined calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The line, from 1. It is 0 for code that the compiler generated.
    pub line: u32,
    /// The column, from 1. It is 0 if unknown.
    pub column: u32,
    /// The position of the call that was inlined, if any.
    pub inlined_at: Option<PlaceId>,
}
