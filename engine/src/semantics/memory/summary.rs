//! Summary objects: objects that stand for several objects of the program. They are list segments (see
//! `semantics/segment`).

use super::ObjId;

/// The link from a node to a neighbour: the pointer at offset `field` holds the address of the byte at offset `to` of
/// the neighbour.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Link {
    /// The offset of the pointer in the node, in bytes.
    pub field: u64,
    /// The offset in the neighbour to which it points, in bytes.
    pub to: u64,
}

/// The part of a list segment that an object stands for. Summaries exist only in states that do not name unknown
/// values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Summary {
    /// A segment of at least `least` nodes; `least` is at least 1. The content is what all nodes have in common, except
    /// the links: the forward link is that of the last node, the backward link that of the first. Pointers from
    /// elsewhere to the object lead to the first node. Pointers to the object in its own content, except the links,
    /// lead from each node to itself. If there are backward links, `back` has the link and the object for the last
    /// node.
    Segment { next: Link, back: Option<(Link, ObjId)>, least: u32 },
    /// The last node of the segment that begins with this object. It has no content of its own.
    Last(ObjId),
}

impl Summary {
    /// True if `old` represents every list that `new` represents, provided their ends match. A single node is a segment
    /// of length one.
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
