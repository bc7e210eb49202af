//! Folding: chains of nodes as list segments, so that lists of any length have finitely many states.
//!
//! Part of `prec` where lists are asked for (symbolic memory graphs: Dudka, Peringer, Vojnar, SAS 2013, section 4). What no
//! variable leads to any more is dropped. Neighbours in memory that agree on all that is tracked, and of which nothing else
//! leads to where they meet, become one segment ([`Summary`]); steps unfold it again. Objects then get numbers by the way on which they are
//! found from the variables, so that states of the same shape are equal.

use super::{Item, Tracking};
use crate::control::Control;
use crate::execution::{Frame, Link, Memory, ObjId, Object, Origin, Part, Piece, State, Summary, Val};
use cfa::Program;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smt::PathCondition;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Nodes in a chain before it becomes a segment: at first, and at most. It grows where refinement cannot refute a path otherwise.
const SHORTEST: usize = 2;
const LONGEST: usize = 5;
/// Neighbours that do not agree on what is tracked stay apart in chains of so many nodes.
const APART: usize = 8;
/// Objects of the heap beyond which nothing is folded.
const MOST: usize = 512;

/// When chains are folded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Folding {
    shortest: usize,
}

impl Folding {
    pub fn new() -> Self {
        Self { shortest: SHORTEST }
    }

    /// Chains of this length stay as they are; `false` if they were long enough.
    pub fn spare_longer(&mut self) -> bool {
        self.shortest += 1;
        self.shortest <= LONGEST
    }
}

/// Two neighbours that can be one segment.
#[derive(Clone, Copy)]
struct Meeting {
    second: ObjId,
    next: Link,
    back: Option<Link>,
    /// They agree on all that is known of their content.
    agree: bool,
}

impl Tracking<'_> {
    /// A path that leads to `st` was not refuted, maybe because of what was folded: more is tracked of nodes, or longer chains
    /// stay as they are. `false` if there is nothing left to try.
    pub(super) fn unfold_more(&mut self, st: &State) -> bool {
        let Some(folding) = &mut self.folding else { return false };
        let before = self.precision.len();
        for (_, node) in st.memory.iter().filter(|(_, o)| is_heap(o)) {
            self.precision.add_everywhere(node.parts().map(|part| Item::Memory(node.origin, part)));
        }
        self.precision.len() > before || folding.spare_longer()
    }

    /// Folds the memory of a state that has been abstracted at `at`, if that is a place where cycles are cut.
    pub(super) fn fold(&mut self, st: &mut State, at: Control) {
        let Some(folding) = self.folding else { return };
        let symbolic = &mut self.symbolic;
        let is_head = symbolic.loops.headed_by(at.loc).is_some()
            || symbolic.execution.program.funcs[st.frame.func].entry == at.loc;
        if !is_head || !st.memory.iter().any(|(_, o)| is_heap(o)) {
            return;
        }
        forget_terms(st);
        drop_unreachable(st);
        if st.memory.iter().filter(|(_, o)| is_heap(o)).count() <= MOST {
            while fold_some(st, folding, symbolic.execution.program.layout.pointer_width.div_ceil(8)) {}
        }
        renumber(st);
    }
}

/// What a state has in memory, as far as states agree on it of which one may cover the other.
pub(super) fn shape(st: &State) -> u64 {
    let mut hasher = FxHasher::default();
    let objects = st.memory.iter().filter(|(_, o)| !o.is_last());
    objects.for_each(|(_, o)| o.origin.hash(&mut hasher));
    hasher.finish()
}

/// Where an object has null, or zeros of that size.
pub(super) fn null_parts(object: &Object, program: &Program) -> Vec<Part> {
    let bytes = program.layout.pointer_width.div_ceil(8);
    let known = object.known_parts();
    let is_null = |part: Part| {
        let start = part.offset().unwrap_or(u64::MAX) / u64::from(bytes) * u64::from(bytes);
        part != Part::WHOLE && object.read_whole(start, bytes) == Some(Val::Int(0))
    };
    known.into_iter().filter(|&part| is_null(part)).collect()
}

fn is_heap(object: &Object) -> bool {
    matches!(object.origin, Origin::Heap(_))
}

/// Values that are made of addresses but are none are forgotten, and what was assumed of addresses: objects are about to change.
fn forget_terms(st: &mut State) {
    st.pc = PathCondition::new();
    st.exposed = Rc::default();
    map_values(st, |value| match value {
        Val::Expr(_) => Val::Unknown,
        value => value,
    });
}

/// The frames of a state, the top one first.
fn frames(st: &State) -> impl Iterator<Item = &Rc<Frame>> {
    std::iter::successors(Some(&st.frame), |f| f.caller.as_ref())
}

/// Changes all frames.
fn change_frames(st: &mut State, mut change: impl FnMut(&mut Frame)) {
    let all: Vec<Rc<Frame>> = frames(st).cloned().collect();
    for frame in all.into_iter().rev() {
        let mut new = Frame::clone(&frame);
        new.caller = (frame.depth > 0).then(|| Rc::clone(&st.frame));
        change(&mut new);
        st.frame = Rc::new(new);
    }
}

/// Replaces the values of variables and of memory.
fn map_values(st: &mut State, mut map: impl FnMut(Val) -> Val) {
    let mut changes = |values: &[Val]| values.iter().any(|&v| map(v) != v);
    let (globals, locals) = (changes(&st.globals), frames(st).any(|f| changes(&f.vars)));
    if globals {
        Rc::make_mut(&mut st.globals).iter_mut().for_each(|v| *v = map(*v));
    }
    if locals {
        change_frames(st, |frame| frame.vars.iter_mut().for_each(|v| *v = map(*v)));
    }
    st.memory.map_cells(map);
}

/// The addresses that variables hold.
fn addresses_in_variables(st: &State) -> Vec<ObjId> {
    let locals = frames(st).flat_map(|f| f.vars.iter());
    let address = |value: &Val| if let Val::Ptr(object, _) = *value { Some(object) } else { None };
    st.globals.iter().chain(locals).filter_map(address).collect()
}

/// Objects in the order in which they are found from the variables and from the memory that has names.
fn found_from_variables(st: &State) -> Vec<ObjId> {
    let mut order = Vec::new();
    let mut seen = FxHashSet::default();
    let roots = addresses_in_variables(st).into_iter();
    let mut work: Vec<ObjId> = roots.chain(st.memory.iter().filter(|(_, o)| !is_heap(o)).map(|(id, _)| id)).collect();
    work.reverse();
    while let Some(id) = work.pop() {
        if !seen.insert(id) {
            continue;
        }
        order.push(id);
        let Some(object) = st.memory.get(id) else { continue };
        let begin = work.len();
        object.for_each_cell(|_, _, value| {
            if let Val::Ptr(to, _) = value {
                work.push(to);
            }
        });
        work.extend(object.summary.and_then(Summary::other_end));
        work[begin..].reverse();
    }
    order
}

/// Drops objects of the heap that no variable leads to, but for one of each allocation, which tells that memory was lost.
fn drop_unreachable(st: &mut State) {
    let reachable: FxHashSet<ObjId> = found_from_variables(st).into_iter().collect();
    let mut told = FxHashSet::default();
    let lost: Vec<(ObjId, Origin)> = st
        .memory
        .iter()
        .filter(|&(id, o)| is_heap(o) && !reachable.contains(&id))
        .map(|(id, o)| (id, o.origin))
        .collect();
    for (id, origin) in lost {
        match told.insert(origin) {
            true => {
                let object = st.memory.get(id).expect("it is alive");
                st.memory.replace(id, Object::new(object.size, object.align, origin, false));
            }
            false => st.memory.remove(id),
        }
    }
}

/// Folds one chain, if there is one to be folded.
fn fold_some(st: &mut State, folding: Folding, pointer: u32) -> bool {
    let meetings = meetings(&st.memory, &addresses_in_variables(st), pointer);
    let followers: FxHashSet<ObjId> = meetings.values().map(|m| m.second).collect();
    let mut starts: Vec<ObjId> = meetings.keys().copied().filter(|id| !followers.contains(id)).collect();
    starts.sort_unstable();
    for start in starts {
        let mut chain = vec![start];
        while let Some(m) = meetings.get(chain.last().expect("its start")) {
            chain.push(m.second);
        }
        let is_summary = |&id: &ObjId| st.memory.get(id).is_some_and(|o| o.summary.is_some());
        if chain.len() < folding.shortest && !chain.iter().any(is_summary) {
            continue;
        }
        let pair = chain.iter().find(|id| meetings.get(id).is_some_and(|m| m.agree || chain.len() > APART));
        if let Some(&first) = pair {
            join(&mut st.memory, first, meetings[&first], pointer);
            return true;
        }
    }
    false
}

/// By first node, the neighbours that can be one segment.
fn meetings(memory: &Memory, in_variables: &[ObjId], pointer: u32) -> FxHashMap<ObjId, Meeting> {
    let in_variables: FxHashSet<ObjId> = in_variables.iter().copied().collect();
    // How many cells of others lead to an object.
    let mut references: FxHashMap<ObjId, u32> = FxHashMap::default();
    for (from, object) in memory.iter() {
        object.for_each_cell(|_, _, value| match value {
            Val::Ptr(to, _) if to != from => *references.entry(to).or_default() += 1,
            _ => {}
        });
    }
    let is_node = |id: ObjId| {
        !in_variables.contains(&id)
            && memory
                .get(id)
                .is_some_and(|o| is_heap(o) && o.array.is_none() && matches!(o.size, Val::Int(s) if s <= 4096))
    };
    let last_of = |id: ObjId| memory.get(id)?.summary.and_then(Summary::other_end);
    let mut meetings = FxHashMap::default();
    for (first, a) in memory.iter().filter(|&(id, o)| is_node(id) && !o.is_last()) {
        let mut links = Vec::new();
        a.for_each_cell(|field, len, value| {
            if let Val::Ptr(second, to) = value
                && u32::from(len) == pointer
                && second != first
                && is_node(second)
            {
                links.push((second, Link { field, to }));
            }
        });
        let end_of_first = last_of(first).unwrap_or(first);
        for (second, next) in links {
            let b = memory.get(second).expect("a node");
            if (b.origin, b.size) != (a.origin, a.size) || b.is_last() {
                continue;
            }
            let mut back = None;
            b.for_each_cell(|field, len, value| match value {
                // What leads back is behind what leads forward, which says which way the list goes.
                Val::Ptr(to, k)
                    if to == end_of_first && u32::from(len) == pointer && field >= next.field + u64::from(pointer) =>
                {
                    back = back.or(Some(Link { field, to: k }));
                }
                _ => {}
            });
            if let Some(agree) =
                can_meet(memory, &references, first, Meeting { second, next, back, agree: false }, pointer)
            {
                meetings.insert(first, Meeting { second, next, back, agree });
                break;
            }
        }
    }
    // Each node in one chain, without cycles.
    let mut led_to = FxHashSet::default();
    let mut firsts: Vec<ObjId> = meetings.keys().copied().collect();
    firsts.sort_unstable();
    for first in firsts {
        if !led_to.insert(meetings[&first].second) {
            meetings.remove(&first);
        }
    }
    meetings
}

/// Whether two neighbours can be one segment, and then whether they agree on all that is known of them.
fn can_meet(
    memory: &Memory,
    references: &FxHashMap<ObjId, u32>,
    first: ObjId,
    meeting: Meeting,
    pointer: u32,
) -> Option<bool> {
    let Meeting { second, next, back, .. } = meeting;
    let (a, b) = (memory.get(first)?, memory.get(second)?);
    // Segments go on as they are.
    for object in [a, b] {
        match object.summary {
            Some(Summary::Segment { next: n, back: p, .. }) if n != next || p.map(|(p, _)| p) != back => return None,
            _ => {}
        }
    }
    let count = |id: ObjId| references.get(&id).copied().unwrap_or(0);
    let end_of_a = a.summary.and_then(Summary::other_end);
    match back {
        // Nothing else leads to the second.
        None if count(second) != 1 => return None,
        None => {}
        Some(_) => {
            // Of what else leads to them, that to the first leads to the beginning and that to the second to the end.
            if b.summary.is_some() && count(second) != 1 || end_of_a.is_some_and(|last| count(last) != 1) {
                return None;
            }
        }
    }
    if back.is_none() && matches!(b.piece(next.field), Piece::Cell { value: Val::Ptr(id, _), .. } if id == second) {
        return None;
    }
    let Val::Int(size) = a.size else { return None };
    let (mut agree, mut at) = (true, 0);
    while at < size {
        let is_link = at == next.field || back.is_some_and(|back| at == back.field);
        if is_link {
            let has_cell = |o: &Object| {
                matches!(o.piece(at), Piece::Cell { value: Val::Ptr(..), len, index: 0 } if u32::from(len) == pointer)
                    || (at..at + u64::from(pointer))
                        .all(|i| !matches!(o.piece(i), Piece::Cell { value: Val::Ptr(..), .. }))
            };
            if !has_cell(a) || !has_cell(b) {
                return None;
            }
            at += u64::from(pointer);
            continue;
        }
        match (a.piece(at), b.piece(at)) {
            // Each leads to itself.
            (
                Piece::Cell { value: Val::Ptr(x, k), len, index },
                Piece::Cell { value: Val::Ptr(y, l), len: m, index: j },
            ) if (x, y) == (first, second) && (k, len, index) == (l, m, j) => {}
            (x, y) if x == y => {
                // An address of one of the two themselves is another thing in each.
                let own = |id| id == first || id == second || Some(id) == end_of_a;
                if matches!(x, Piece::Cell { value: Val::Ptr(id, _), .. } if own(id)) {
                    return None;
                }
            }
            (Piece::Cell { value: Val::Ptr(..), .. }, _) | (_, Piece::Cell { value: Val::Ptr(..), .. }) => return None,
            (x, y) if is_unknown(x) && is_unknown(y) => {}
            _ => agree = false,
        }
        at += 1;
    }
    Some(agree)
}

fn is_unknown(piece: Piece) -> bool {
    matches!(piece, Piece::Default | Piece::Cell { value: Val::Unknown | Val::Unset | Val::Expr(_), .. })
}

/// Makes two neighbours one segment.
fn join(memory: &mut Memory, first: ObjId, meeting: Meeting, pointer: u32) {
    let Meeting { second, next, back, .. } = meeting;
    let (a, b) = (memory.get(first).expect("a node").clone(), memory.get(second).expect("a node").clone());
    let Val::Int(size) = a.size else { unreachable!("nodes have a size") };
    let mut node = Object::new(a.size, a.align.min(b.align), a.origin, false);
    let mut at = 0;
    while at < size {
        let link = |link: Link, from: &Object, node: &mut Object| {
            let len = u64::from(pointer);
            match from.piece(link.field) {
                Piece::Cell { value: Val::Ptr(o, k), .. } => node.write_cell(link.field, pointer, Val::Ptr(o, k)),
                _ => (link.field..link.field + len).for_each(|i| {
                    if let Piece::Byte(byte) = from.piece(i) {
                        node.write_bytes(i, &[byte]);
                    }
                }),
            }
            len
        };
        at += match (at, back) {
            _ if at == next.field => link(next, &b, &mut node),
            (_, Some(back)) if at == back.field => link(back, &a, &mut node),
            _ => match (a.piece(at), b.piece(at)) {
                (Piece::Byte(x), Piece::Byte(y)) if x == y => {
                    node.write_bytes(at, &[x]);
                    1
                }
                (Piece::Cell { value: Val::Ptr(o, k), len, index: 0 }, _) => {
                    node.write_cell(at, u32::from(len), Val::Ptr(o, k));
                    u64::from(len)
                }
                _ => 1,
            },
        };
    }
    let last_of = |object: &Object| object.summary.and_then(Summary::other_end);
    let back = back.map(|link| {
        // The last node of the first is inside now.
        if let Some(last) = last_of(&a) {
            memory.remove(last);
        }
        (link, last_of(&b).unwrap_or(second))
    });
    match back {
        Some((_, last)) if last == second => {
            memory.replace(second, a.last(first));
        }
        Some((_, last)) => {
            memory.get_mut(last).expect("a segment has a last node").summary = Some(Summary::Last(first));
            memory.remove(second);
        }
        None => memory.remove(second),
    }
    // That the two ends of a list are two nodes may matter.
    let least = if back.is_some() { 2 } else { 1 };
    memory.replace(first, node.summarizing(Some(Summary::Segment { next, back, least })));
}

/// Gives objects the numbers in whose order they are found, the dead first: so none seems to have been alive before one died. Last nodes of
/// segments come last, so that a segment and a node in its place have the same number.
fn renumber(st: &mut State) {
    let globals = st.memory.iter().take_while(|(_, o)| matches!(o.origin, Origin::Global(_))).count() as u32;
    let mut order = found_from_variables(st);
    let found: FxHashSet<ObjId> = order.iter().copied().collect();
    order.extend(st.memory.iter().map(|(id, _)| id).filter(|id| !found.contains(id)));
    order.retain(|id| id.0 >= globals);
    order.sort_by_key(|&id| st.memory.get(id).map(Object::is_last));
    let numbers: FxHashMap<ObjId, ObjId> =
        order.iter().enumerate().map(|(i, &id)| (id, ObjId(globals + i as u32))).collect();
    if numbers.iter().all(|(a, b)| a == b) {
        return;
    }
    let number = |id: ObjId| if id.0 < globals { id } else { numbers[&id] };
    map_values(st, |value| match value {
        Val::Ptr(id, k) => Val::Ptr(number(id), k),
        value => value,
    });
    let mut memory = st.memory.renumbered(|id| Some(number(id)), globals + order.len() as u32);
    let summaries: Vec<(ObjId, Summary)> = memory.iter().filter_map(|(id, o)| Some((id, o.summary?))).collect();
    for (id, summary) in summaries {
        memory.get_mut(id).expect("just seen").summary = Some(match summary {
            Summary::Segment { next, back, least } => {
                Summary::Segment { next, back: back.map(|(l, last)| (l, number(last))), least }
            }
            Summary::Last(first) => Summary::Last(number(first)),
        });
    }
    st.memory = memory;
    change_frames(st, |frame| {
        frame.objects.retain(|id| numbers.contains_key(id));
        frame.objects.iter_mut().for_each(|id| *id = number(*id));
    });
}
