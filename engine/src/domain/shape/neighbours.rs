//! Heap nodes that can be folded to a segment, with the objects that each owns.

use super::is_heap;
use crate::semantics::{Link, Memory, ObjId, Object, Piece, Summary, Val, owned_by};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximal number of objects that a node owns.
const MOST_OWNED: usize = 64;
/// Maximal size of a node in bytes.
const LARGEST: u64 = 4096;

/// The index of a memory for the search of neighbours.
pub(in crate::domain) struct Neighbours<'m> {
    memory: &'m Memory,
    in_variables: FxHashSet<ObjId>,
    /// For each object, the objects with pointers to it, once per pointer.
    holders: FxHashMap<ObjId, Vec<ObjId>>,
    /// Bytes of a pointer.
    pointer: u32,
}

/// Two neighbouring nodes that can be folded. The first node is the key.
pub(in crate::domain) struct Meeting {
    /// The second node.
    pub second: ObjId,
    next: Link,
    back: Option<Link>,
    /// True if their known content agrees, and that of the objects they own.
    pub agree: bool,
    /// Corresponding objects of the two nodes: the nodes themselves, then the objects they own.
    pairs: Vec<(ObjId, ObjId)>,
}

impl<'m> Neighbours<'m> {
    /// Indexes a memory. `in_variables` are the objects whose addresses are in variables.
    pub fn new(memory: &'m Memory, in_variables: &[ObjId], pointer: u32) -> Self {
        let mut holders: FxHashMap<ObjId, Vec<ObjId>> = FxHashMap::default();
        for (from, object) in memory.iter() {
            object.for_each_cell(|_, _, value| {
                if let Val::Ptr(to, _) = value {
                    holders.entry(to).or_default().push(from);
                }
            });
        }
        Self { memory, in_variables: in_variables.iter().copied().collect(), holders, pointer }
    }

    /// The pairs of neighbours that can be folded, by first node. Each node is the second of at most one pair.
    pub fn meetings(&self) -> FxHashMap<ObjId, Meeting> {
        let mut meetings = FxHashMap::default();
        let mut led_to = FxHashSet::default();
        for (first, a) in self.memory.iter().filter(|&(id, _)| self.is_node(id)) {
            let mut links = Vec::new();
            a.for_each_cell(|field, len, value| {
                if let Val::Ptr(second, to) = value
                    && u32::from(len) == self.pointer
                    && second != first
                    && self.is_node(second)
                {
                    links.push((second, Link { field, to }));
                }
            });
            let meeting = links.into_iter().find_map(|(second, next)| self.meeting(first, second, next));
            if let Some(meeting) = meeting
                && led_to.insert(meeting.second)
            {
                meetings.insert(first, meeting);
            }
        }
        meetings
    }

    /// True if an object may be a node of a segment: no variable points to it, and it belongs to no other segment.
    fn is_node(&self, id: ObjId) -> bool {
        !self.in_variables.contains(&id)
            && self.memory.get(id).is_some_and(|o| {
                let small = matches!(o.size, Val::Int(size) if size <= LARGEST);
                is_heap(o) && o.array.is_none() && o.owner.is_none() && !o.is_last() && small
            })
    }

    fn object(&self, id: ObjId) -> &'m Object {
        self.memory.get(id).expect("a live object")
    }

    /// The fold of two nodes, of which the first points to the second by `next`, if they can be folded.
    fn meeting(&self, first: ObjId, second: ObjId, next: Link) -> Option<Meeting> {
        let (a, b) = (self.object(first), self.object(second));
        if (a.origin, a.size) != (b.origin, b.size) {
            return None;
        }
        let last_of_first = a.summary.and_then(Summary::other_end);
        let end_of_first = last_of_first.unwrap_or(first);
        let mut back = None;
        b.for_each_cell(|field, len, value| match value {
            // The backward link has to be behind the forward link. This fixes the direction of the list.
            Val::Ptr(to, k)
                if to == end_of_first
                    && u32::from(len) == self.pointer
                    && field >= next.field + u64::from(self.pointer) =>
            {
                back = back.or(Some(Link { field, to: k }));
            }
            _ => {}
        });
        // A segment can grow only with the same links.
        for object in [a, b] {
            match object.summary {
                Some(Summary::Segment { next: n, back: p, .. }) if n != next || p.map(|(p, _)| p) != back => {
                    return None;
                }
                _ => {}
            }
        }
        let links: Vec<u64> = std::iter::once(next.field).chain(back.map(|b| b.field)).collect();
        if ![a, b].iter().all(|o| links.iter().all(|&field| self.is_link(o, field))) {
            return None;
        }
        let (of_a, of_b) = (self.owned(first, &links)?, self.owned(second, &links)?);
        // Pointers to the first node become pointers to the start of the segment, those to the second to its end. No
        // other object may point to where they meet.
        let others = |id: ObjId, own: &FxHashSet<ObjId>| {
            let from = self.holders.get(&id).map_or(&[][..], |h| &h[..]);
            from.iter().filter(|&&h| h != id && !own.contains(&h)).count()
        };
        // The objects to which the last node of a segment points belong to no node.
        let alone = |end: bool| end || others(second, &of_b) == 1 && !leads_to(b, next.field, second);
        let joins = match back {
            None => alone(false),
            Some(_) => alone(b.summary.is_none()) && last_of_first.is_none_or(|last| others(last, &of_a) == 1),
        };
        if !joins {
            return None;
        }
        let (pairs, agree) = self.pairs(Pairing::new((first, &of_a), (second, &of_b)), &links)?;
        Some(Meeting { second, next, back, agree, pairs })
    }

    /// True if the object has an aligned address at this offset, or no part of an address.
    fn is_link(&self, object: &Object, field: u64) -> bool {
        let is_address = |piece| matches!(piece, Piece::Cell { value: Val::Ptr(..), .. });
        match object.piece(field) {
            Piece::Cell { value: Val::Ptr(..), len, index } => index == 0 && u32::from(len) == self.pointer,
            _ => (field..field + u64::from(self.pointer)).all(|at| !is_address(object.piece(at))),
        }
    }

    /// The objects that a node owns: heap objects that are reachable through it only, not through its links. A segment
    /// records them. `None` if there are too many, or a neighbour is among them.
    fn owned(&self, node: ObjId, links: &[u64]) -> Option<FxHashSet<ObjId>> {
        if self.object(node).summary.is_some() {
            return Some(owned_by(self.memory, node).into_iter().collect());
        }
        let mut owned: FxHashSet<ObjId> = FxHashSet::default();
        let mut work = Vec::new();
        let reach = |from: ObjId, but: &[u64], work: &mut Vec<ObjId>| {
            let object = self.object(from);
            object.for_each_cell(|field, _, value| match value {
                Val::Ptr(to, _) if to != node && !but.contains(&field) => work.push(to),
                _ => {}
            });
            work.extend(object.summary.and_then(Summary::other_end));
        };
        reach(node, links, &mut work);
        while let Some(id) = work.pop() {
            let may_be = self.memory.get(id).is_some_and(|o| is_heap(o) && o.array.is_none());
            if !may_be || self.in_variables.contains(&id) || owned.contains(&id) {
                continue;
            }
            if owned.len() == MOST_OWNED {
                return None;
            }
            owned.insert(id);
            reach(id, &[], &mut work);
        }
        // Removes objects to which others point, and those reachable only through them.
        loop {
            let from_outside = |id: &ObjId| {
                let leads = |h: &ObjId| *h != node && !owned.contains(h);
                self.holders.get(id).is_some_and(|h| h.iter().any(leads)) || self.ends_outside(*id, &owned)
            };
            let Some(shared) = owned.iter().copied().find(from_outside) else { break };
            owned.remove(&shared);
        }
        // The links must lead to neighbours, not to owned objects.
        let mut neighbours = Vec::new();
        self.object(node).for_each_cell(|field, _, value| match value {
            Val::Ptr(to, _) if links.contains(&field) => neighbours.push(to),
            _ => {}
        });
        neighbours.iter().all(|n| !owned.contains(n)).then_some(owned)
    }

    /// True if one end of a segment is in the set and the other is not, or if an owned object is in the set and its
    /// owner is not.
    fn ends_outside(&self, id: ObjId, set: &FxHashSet<ObjId>) -> bool {
        let object = self.object(id);
        object.summary.and_then(Summary::other_end).into_iter().chain(object.owner).any(|end| !set.contains(&end))
    }

    /// True if only `node`, which is a single node, points to the object.
    fn belongs_to(&self, id: ObjId, node: ObjId) -> bool {
        self.object(node).summary.is_none() && self.holders.get(&id).is_some_and(|h| h.iter().all(|&h| h == node))
    }

    /// The corresponding objects of two nodes, and whether their known content agrees. `None` if their pointers do not
    /// correspond.
    fn pairs(&self, mut pairing: Pairing<'_>, links: &[u64]) -> Option<(Vec<(ObjId, ObjId)>, bool)> {
        let (mut agree, mut done) = (true, 0);
        while let Some(&(x, y)) = pairing.pairs.get(done) {
            if done > 0 && !self.are_alike(x, y, &mut pairing) {
                return None;
            }
            let (a, b) = (self.object(x), self.object(y));
            let Val::Int(size) = a.size else { return None };
            if size > LARGEST {
                return None;
            }
            let mut at = 0;
            while at < size {
                if done == 0 && links.contains(&at) {
                    at += u64::from(self.pointer);
                    continue;
                }
                match (a.piece(at), b.piece(at)) {
                    (
                        Piece::Cell { value: Val::Ptr(x, k), len, index },
                        Piece::Cell { value: Val::Ptr(y, l), len: m, index: j },
                    ) => {
                        if (k, len, index) != (l, m, j) || !pairing.meet(x, y) {
                            return None;
                        }
                    }
                    (Piece::Cell { value: Val::Ptr(..), .. }, _) | (_, Piece::Cell { value: Val::Ptr(..), .. }) => {
                        return None;
                    }
                    (x, y) => agree &= x == y || is_unknown(x) && is_unknown(y),
                }
                at += 1;
            }
            done += 1;
        }
        Some((pairing.pairs, agree))
    }

    /// True if two corresponding objects can be folded, apart from their content.
    fn are_alike(&self, x: ObjId, y: ObjId, pairing: &mut Pairing<'_>) -> bool {
        let (a, b) = (self.object(x), self.object(y));
        if (a.origin, a.size, a.align) != (b.origin, b.size, b.align) || b.array.is_some() {
            return false;
        }
        use Summary::{Last, Segment};
        let alike = match (a.summary, b.summary) {
            (None, None) => true,
            (Some(Segment { next, back, .. }), Some(Segment { next: n, back: p, .. })) => {
                next == n
                    && match (back, p) {
                        (None, None) => true,
                        (Some((l, x)), Some((m, y))) => l == m && pairing.meet(x, y),
                        _ => false,
                    }
            }
            // A segment of length at least one corresponds to a single node.
            (Some(Segment { back: None, .. }), None) | (None, Some(Segment { back: None, .. })) => true,
            (Some(Last(x)), Some(Last(y))) => pairing.meet(x, y),
            _ => false,
        };
        let (first, second) = pairing.pairs[0];
        alike
            && match (a.owner.filter(|&o| o != first), b.owner.filter(|&o| o != second)) {
                (Some(x), Some(y)) => pairing.meet(x, y),
                (None, None) => true,
                // The owner may be a segment on one side and a single node on the other.
                (Some(segment), None) => pairing.to_second.get(&segment).is_some_and(|&node| self.belongs_to(y, node)),
                (None, Some(segment)) => {
                    let node = pairing.pairs.iter().find(|&&(_, y)| y == segment);
                    node.is_some_and(|&(node, _)| self.belongs_to(x, node))
                }
            }
    }
}

/// The correspondence between the objects of two nodes, as far as it is known.
struct Pairing<'a> {
    of_first: &'a FxHashSet<ObjId>,
    of_second: &'a FxHashSet<ObjId>,
    /// The pair of nodes comes first.
    pairs: Vec<(ObjId, ObjId)>,
    to_second: FxHashMap<ObjId, ObjId>,
    taken: FxHashSet<ObjId>,
}

impl<'a> Pairing<'a> {
    fn new(
        (first, of_first): (ObjId, &'a FxHashSet<ObjId>),
        (second, of_second): (ObjId, &'a FxHashSet<ObjId>),
    ) -> Self {
        Self {
            of_first,
            of_second,
            pairs: vec![(first, second)],
            to_second: FxHashMap::from_iter([(first, second)]),
            taken: FxHashSet::from_iter([second]),
        }
    }

    /// Records that a pointer to `x` corresponds to a pointer to `y`. Returns false if that is impossible. Objects that
    /// neither node owns correspond to themselves only.
    fn meet(&mut self, x: ObjId, y: ObjId) -> bool {
        match self.to_second.get(&x) {
            Some(&known) => known == y,
            None if self.of_first.contains(&x) && self.of_second.contains(&y) && self.taken.insert(y) => {
                self.to_second.insert(x, y);
                self.pairs.push((x, y));
                true
            }
            None => x == y && !self.of_first.contains(&x) && !self.of_second.contains(&y) && y != self.pairs[0].1,
        }
    }
}

impl Meeting {
    /// Folds the two nodes in `memory` to a segment that begins with `first`.
    pub fn join(&self, memory: &mut Memory, first: ObjId, pointer: u32) {
        let Self { second, next, back, .. } = *self;
        let (a, b) = (memory.get(first).expect("a node").clone(), memory.get(second).expect("a node").clone());
        let node = joined(&a, &b, |at| match back {
            _ if at == next.field => Some((&b, pointer)),
            Some(back) if at == back.field => Some((&a, pointer)),
            _ => None,
        });
        let last_of = |object: &Object| object.summary.and_then(Summary::other_end);
        let back = back.map(|link| {
            // The last node of the first segment is inside the new one.
            if let Some(last) = last_of(&a) {
                memory.remove(last);
            }
            (link, last_of(&b).unwrap_or(second))
        });
        match back {
            Some((_, last)) if last == second => memory.replace(second, a.last(first)),
            Some((_, last)) => {
                memory.replace(last, a.last(first));
                memory.remove(second);
            }
            None => memory.remove(second),
        }
        for &(x, y) in &self.pairs[1..] {
            let (of_a, of_b) = (memory.get(x).expect("it is alive").clone(), memory.get(y).expect("it is alive"));
            let mut one = joined(&of_a, of_b, |_| None);
            one.summary = match (of_a.summary, of_b.summary) {
                (Some(Summary::Segment { next, back, least }), Some(Summary::Segment { least: l, .. })) => {
                    Some(Summary::Segment { next, back, least: least.min(l) })
                }
                (Some(Summary::Segment { next, back, .. }), None)
                | (None, Some(Summary::Segment { next, back, .. })) => Some(Summary::Segment { next, back, least: 1 }),
                (summary, _) => summary,
            };
            // If the object belongs to a segment on either side, its fold belongs to the corresponding owner.
            let of_segment = of_a.owner.or_else(|| {
                let owner = of_b.owner.filter(|&o| o != second)?;
                self.pairs.iter().find(|&&(_, y)| y == owner).map(|&(x, _)| x)
            });
            one.owner = Some(of_segment.unwrap_or(first));
            memory.remove(y);
            memory.replace(x, one);
        }
        // With backward links, the two ends of the list are distinct nodes.
        let least = if back.is_some() { 2 } else { 1 };
        memory.replace(first, node.summarizing(Some(Summary::Segment { next, back, least })));
    }
}

/// The common content of two objects. `from` selects the object whose bytes are kept at an offset, and their number.
fn joined<'o>(a: &Object, b: &Object, from: impl Fn(u64) -> Option<(&'o Object, u32)>) -> Object {
    let Val::Int(size) = a.size else { unreachable!("nodes have a size") };
    let mut one = Object::new(a.size, a.align.min(b.align), a.origin, false);
    let mut at = 0;
    while at < size {
        let (x, y, len) = match from(at) {
            Some((of, len)) => (of, of, u64::from(len)),
            None => (a, b, 1),
        };
        let end = at + len;
        while at < end {
            match (x.piece(at), y.piece(at)) {
                (Piece::Byte(x), Piece::Byte(y)) if x == y => one.write_bytes(at, &[x]),
                // Pointers to owned objects correspond; those of the first are kept.
                (Piece::Cell { value: Val::Ptr(o, k), len, index: 0 }, _) => {
                    one.write_cell(at, u32::from(len), Val::Ptr(o, k));
                }
                _ => {}
            }
            at += 1;
        }
    }
    one
}

fn is_unknown(piece: Piece) -> bool {
    matches!(piece, Piece::Default | Piece::Cell { value: Val::Unknown | Val::Unset | Val::Expr(_), .. })
}

/// True if the object has the address of `target` at this offset.
fn leads_to(object: &Object, field: u64, target: ObjId) -> bool {
    matches!(object.piece(field), Piece::Cell { value: Val::Ptr(id, _), .. } if id == target)
}
