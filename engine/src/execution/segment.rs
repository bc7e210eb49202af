//! List segments: objects that stand for the nodes of a list.
//!
//! Where states are folded (`cpa/tracking/fold`), a chain of nodes becomes one object, as in symbolic memory graphs (Dudka,
//! Peringer, Vojnar: Byte-precise verification of low-level list manipulation, SAS 2013). A segment here has one node at
//! least, and only memory, never a variable, leads to it: whoever loads a pointer to it is given a node, and the segment splits
//! by whether there are more. So every object that an operation accesses is one object of the program.

use super::Execution;
use super::memory::{Memory, Object};
use super::state::State;
use super::value::{ObjId, Val};
use rustc_hash::FxHashMap;

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

/// By what is the last node of a segment in `old`, what is in `new`: the same, or the only node.
pub(super) fn ends(old: &Memory, new: &Memory) -> FxHashMap<ObjId, ObjId> {
    let lasts = old
        .iter()
        .filter_map(|(id, o)| if let Some(Summary::Last(first)) = o.summary { Some((id, first)) } else { None });
    lasts.map(|(id, first)| (id, new.get(first).and_then(|o| o.summary?.other_end()).unwrap_or(first))).collect()
}

pub(super) fn is_summary(st: &State, object: ObjId) -> bool {
    st.memory.get(object).is_some_and(|o| o.summary.is_some())
}

/// The states that `st` splits into so that the node to which pointers to `object` lead is an object of its own; `None` if it is one.
pub(super) fn unfold(ex: &mut Execution, st: &State, object: ObjId) -> Option<Vec<State>> {
    let first = match st.memory.get(object)?.summary? {
        Summary::Last(first) => first,
        Summary::Segment { .. } => object,
    };
    let segment = st.memory.get(first).expect("a segment has a first node").clone();
    let Some(Summary::Segment { next, back, least }) = segment.summary else {
        unreachable!("the first node is the segment")
    };
    let bytes = ex.program.layout.pointer_width.div_ceil(8);
    let node = segment.clone().summarizing(None);

    let mut states = Vec::with_capacity(2);
    if least == 1 {
        let mut one = st.clone();
        one.memory.replace(first, node.clone());
        if let Some((_, last)) = back {
            one.memory.remove(last);
            one.memory.map_cells(|value| match value {
                Val::Ptr(o, k) if o == last => Val::Ptr(first, k),
                Val::Expr(e) if ex.terms.bases_in(e).contains(&last) => Val::Unknown,
                value => value,
            });
        }
        states.push(one);
    }

    let mut more = st.clone();
    let least = (least - 1).max(1);
    match back {
        Some((link, last)) if object == last => {
            let rest_last = more.memory.allocate(node.last(first));
            let mut node = moved(node, first, last, &[next.field, link.field]);
            node.write_cell(link.field, bytes, Val::Ptr(rest_last, link.to));
            more.memory.replace(last, node);
            let mut rest = segment.summarizing(Some(Summary::Segment { next, back: Some((link, rest_last)), least }));
            rest.write_cell(next.field, bytes, Val::Ptr(last, next.to));
            more.memory.replace(first, rest);
        }
        _ => {
            let rest = more.memory.allocate(segment.clone());
            let rest_of = segment.summarizing(Some(Summary::Segment { next, back, least }));
            let mut of_rest = moved(rest_of, first, rest, &[next.field]);
            if let Some((link, _)) = back {
                of_rest.write_cell(link.field, bytes, Val::Ptr(first, link.to));
            }
            more.memory.replace(rest, of_rest);
            let mut node = node;
            node.write_cell(next.field, bytes, Val::Ptr(rest, next.to));
            more.memory.replace(first, node);
            if let Some((_, last)) = back {
                let last = more.memory.get_mut(last).expect("a segment with links back has a last node");
                last.summary = Some(Summary::Last(rest));
            }
        }
    }
    states.push(more);
    Some(states)
}

/// A node that leads to itself, at another place: but for these fields, addresses of the old place are those of the new.
fn moved(mut node: Object, from: ObjId, to: ObjId, but: &[u64]) -> Object {
    let mut fields = Vec::new();
    node.for_each_cell(|field, len, value| match value {
        Val::Ptr(o, k) if o == from && !but.contains(&field) => fields.push((field, u32::from(len), k)),
        _ => {}
    });
    for (field, len, k) in fields {
        node.write_cell(field, len, Val::Ptr(to, k));
    }
    node
}
