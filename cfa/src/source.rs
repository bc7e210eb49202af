//! Where things stand in the C source.

use crate::index::id_type;

id_type!(
    /// A source file.
    FileId, "file"
);
id_type!(
    /// A place in the source; interned.
    PlaceId, "p"
);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceFile {
    /// As the compiler was given it, made absolute with the compilation directory if it was relative.
    pub path: String,
}

/// A line and column of a file, with the chain of inlined calls it came through.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    pub file: FileId,
    /// From 1; 0 where the compiler gives none (code it made itself).
    pub line: u32,
    /// From 1; 0 where unknown.
    pub column: u32,
    /// The call through which this place was inlined, if it was.
    pub inlined_at: Option<PlaceId>,
}
