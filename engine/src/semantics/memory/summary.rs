//! Objects that stand for several of the program: list segments (see `semantics/segment`).

use super::ObjId;

/// How each node of a list leads to a neighbour: at offset `field` is the address of the neighbour's byte `to`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    pub field: u64,
    pub to: u64,
}

/// What an object stands for that is not one of the program's. No summary exists where unknown values have names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Summary {
    /// So many nodes or more, one at least. Pointers to the object lead to the first, those in its own content, but for the links, from each node to itself.
    /// The content is what all have in common, but for the links: forward that of the last node, backward that of the first. Where there
    /// are links back, another object is the last node.
    Segment { next: Link, back: Option<(Link, ObjId)>, least: u32 },
    /// The last node of the segment with this first; it has no content of its own.
    Last(ObjId),
}

impl Summary {
    /// Whether what `new` stands for is among what `old` does, if their ends are: a node is a segment of one.
    pub fn may_cover(old: Option<Self>, new: Option<Self>) -> bool {
        match (old, new) {
            (Some(Self::Segment { least, .. }), None) => least == 1,
            (Some(Self::Segment { next, back, least }), Some(Self::Segment { next: n, back: b, least: l })) => {
                least <= l && next == n && back.map(|(link, _)| link) == b.map(|(link, _)| link)
            }
            (old, new) => old == new,
        }
    }

    /// The object for the other end of the segment.
    pub fn other_end(self) -> Option<ObjId> {
        match self {
            Self::Segment { back, .. } => back.map(|(_, last)| last),
            Self::Last(first) => Some(first),
        }
    }
}
