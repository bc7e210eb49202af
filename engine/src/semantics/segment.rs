//! List segments: summary objects for the nodes of a list.
//!
//! The shape domain (`domain/shape`) replaces a chain of nodes by one object, as in symbolic memory graphs (Dudka,
//! Peringer, Vojnar: Byte-precise verification of low-level list manipulation, SAS 2013). A segment has at least one
//! node. Only memory points to it, never a variable. A load of a pointer to a segment unfolds it: the state splits into
//! one where the segment is a single node, and one where it is a node and a shorter segment. So every object that an
//! operation accesses is a single concrete object.

use super::Execution;
use super::memory::{Memory, Object, Summary};
use super::state::State;
use super::value::{ObjId, Val};
use rustc_hash::FxHashMap;

/// Maps each last node of a segment in `old` to its counterpart in `new`: the last node of the same segment, or the
/// only node if the segment is a single node there.
pub(super) fn ends(old: &Memory, new: &Memory) -> FxHashMap<ObjId, ObjId> {
    let lasts = old
        .iter()
        .filter_map(|(id, o)| if let Some(Summary::Last(first)) = o.summary { Some((id, first)) } else { None });
    lasts.map(|(id, first)| (id, new.get(first).and_then(|o| o.summary?.other_end()).unwrap_or(first))).collect()
}

/// True if the owners of an object in both states match. They match if they are equal, or if the owning segment of
/// `old` is a single node in `new` and the object has no owner there.
pub(super) fn owners_agree(old: &Object, new: &Object, memory: &Memory) -> bool {
    old.owner == new.owner
        || new.owner.is_none() && old.owner.and_then(|owner| memory.get(owner)).is_some_and(|o| o.summary.is_none())
}

/// True if the object is live and is a summary object.
pub(super) fn is_summary(st: &State, object: ObjId) -> bool {
    st.memory.get(object).is_some_and(|o| o.summary.is_some())
}

/// The objects that belong to a segment, directly or through another object that belongs to it. They exist once per
/// node.
pub fn owned_by(memory: &Memory, segment: ObjId) -> Vec<ObjId> {
    let mut all = vec![segment];
    loop {
        let before = all.len();
        let more =
            |&(id, o): &(ObjId, &Object)| o.owner.is_some_and(|owner| all.contains(&owner)) && !all.contains(&id);
        let more: Vec<ObjId> = memory.iter().filter(more).map(|(id, _)| id).collect();
        all.extend(more);
        if all.len() == before {
            return all.split_off(1);
        }
    }
}

/// Unfolds the segment that `object` is an end of. The node that pointers to `object` reach becomes an object of its
/// own. Returns the resulting states, or `None` if `object` is no summary.
pub fn unfold(ex: &mut Execution, st: &State, object: ObjId) -> Option<Vec<State>> {
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
        free_from(&mut one.memory, first);
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
            let copies = copy_owned(&mut more.memory, first, last);
            free_from(&mut more.memory, last);
            let mut node = moved(node, &copies, &[next.field, link.field]);
            node.write_cell(link.field, bytes, Val::Ptr(rest_last, link.to));
            more.memory.replace(last, node);
            let mut rest = segment.summarizing(Some(Summary::Segment { next, back: Some((link, rest_last)), least }));
            rest.write_cell(next.field, bytes, Val::Ptr(last, next.to));
            more.memory.replace(first, rest);
        }
        _ => {
            let rest = more.memory.allocate(node.clone());
            let copies = copy_owned(&mut more.memory, first, rest);
            free_from(&mut more.memory, first);
            let links: Vec<u64> = std::iter::once(next.field).chain(back.map(|(link, _)| link.field)).collect();
            let mut of_rest = moved(segment, &copies, &links).summarizing(Some(Summary::Segment { next, back, least }));
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

/// Copies the objects that belong to a segment, for a node or segment `to`. Returns a map from the originals, and the
/// segment itself, to their copies.
fn copy_owned(memory: &mut Memory, segment: ObjId, to: ObjId) -> FxHashMap<ObjId, ObjId> {
    let owned = owned_by(memory, segment);
    let mut copies = FxHashMap::from_iter([(segment, to)]);
    for &id in &owned {
        let object = memory.get(id).expect("a live object").clone();
        copies.insert(id, memory.allocate(object));
    }
    let copy = |id: ObjId| copies.get(&id).copied().unwrap_or(id);
    for id in owned {
        let object = memory.get(id).expect("a live object").clone();
        let mut object = moved(object, &copies, &[]);
        object.owner = object.owner.map(copy);
        object.summary = object.summary.map(|summary| match summary {
            Summary::Segment { next, back, least } => {
                Summary::Segment { next, back: back.map(|(link, last)| (link, copy(last))), least }
            }
            Summary::Last(first) => Summary::Last(copy(first)),
        });
        memory.replace(copy(id), object);
    }
    copies
}

/// Removes the owner of all objects that `node` owns, since `node` is a single node now.
fn free_from(memory: &mut Memory, node: ObjId) {
    let owned: Vec<ObjId> = memory.iter().filter(|(_, o)| o.owner == Some(node)).map(|(id, _)| id).collect();
    for id in owned {
        memory.get_mut(id).expect("just seen").owner = None;
    }
}

/// Redirects the pointers of an object according to `places`, except those in the fields at the offsets `but`.
fn moved(mut object: Object, places: &FxHashMap<ObjId, ObjId>, but: &[u64]) -> Object {
    let mut fields = Vec::new();
    object.for_each_cell(|field, len, value| match value {
        Val::Ptr(o, k) if places.contains_key(&o) && !but.contains(&field) => {
            fields.push((field, u32::from(len), Val::Ptr(places[&o], k)));
        }
        _ => {}
    });
    for (field, len, value) in fields {
        object.write_cell(field, len, value);
    }
    object
}
