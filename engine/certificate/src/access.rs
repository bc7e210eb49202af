//! Pointers and memory accesses.
//!
//! The structure of a pointer term determines its target: the address of an object plus an offset, or a choice between
//! such sums. Objects do not overlap, so an access within the bounds of a live object is an access to this object. If a
//! check of the access is enabled, the checker proves that the access is within bounds. Otherwise, an execution ends at
//! a write out of bounds, and a read out of bounds returns any value. A write through a pointer without a known target
//! may change all objects.

use super::content::{Base, Content};
use super::*;
use cfa::{AllocKind, BinOp, Family, Op};

/// Largest number of alternatives of a pointer.
const CHOICES: usize = 32;
/// Largest number of bytes that are copied or filled one by one.
const PIECES: u64 = 1 << 10;

/// A place in an object, with the condition under which a pointer refers to it.
#[derive(Clone, Copy)]
struct Referent {
    here: ExprId,
    object: Object,
    offset: ExprId,
}

/// The alternatives of a nested choice, each with its condition. If there are too many, a remaining alternative may
/// itself be a choice.
pub(super) fn leaves(ck: &mut Checker<'_>, e: ExprId) -> Vec<(ExprId, ExprId)> {
    let always = ck.pool.bool(true);
    let (mut open, mut done) = (vec![(always, e)], Vec::new());
    while let Some((here, e)) = open.pop() {
        match *ck.pool.get(e) {
            _ if ck.pool.is_false(here) => {}
            Expr::Ite(c, yes, no) if open.len() + done.len() < CHOICES => {
                let not = ck.pool.not(c);
                let (in_yes, in_no) = (ck.pool.and(here, c), ck.pool.and(here, not));
                open.extend([(in_no, no), (in_yes, yes)]);
            }
            _ => done.push((here, e)),
        }
    }
    done
}

/// The places in objects that a pointer may refer to, according to its structure.
fn places(ck: &mut Checker<'_>, pointer: ExprId) -> Vec<Referent> {
    let always = ck.pool.bool(true);
    let (mut open, mut done) = (vec![(always, pointer)], Vec::new());
    // Choices share terms, so they are visited more often than they occur.
    let mut visited = 0;
    while let Some((here, e)) = open.pop() {
        visited += 1;
        let mut terms = Vec::new();
        sum(ck, e, &mut terms);
        let others = |this: &mut Checker<'_>, i: usize, first: ExprId| {
            let rest = terms.iter().enumerate().filter(|&(j, _)| j != i);
            rest.fold(first, |sum, (_, &term)| this.pool.add(sum, term))
        };
        if let Some((i, &object)) = terms.iter().enumerate().find_map(|(i, t)| Some((i, ck.by_base.get(t)?))) {
            let zero = ck.word(0);
            let offset = others(ck, i, zero);
            done.push(Referent { here, object, offset });
            continue;
        }
        let choice = terms.iter().enumerate().find_map(|(i, &term)| match *ck.pool.get(term) {
            Expr::Ite(c, yes, no) => Some((i, c, yes, no)),
            _ => None,
        });
        if let Some((i, c, yes, no)) = choice
            && open.len() + done.len() < CHOICES
            && visited < 4 * CHOICES
        {
            let not = ck.pool.not(c);
            for (c, side) in [(not, no), (c, yes)] {
                let here = ck.pool.and(here, c);
                if !ck.pool.is_false(here) {
                    let side = others(ck, i, side);
                    open.push((here, side));
                }
            }
        }
    }
    done
}

/// Adds the summands of `e` to `terms`.
fn sum(ck: &mut Checker<'_>, e: ExprId, terms: &mut Vec<ExprId>) {
    let mut stack = vec![e];
    while let Some(e) = stack.pop() {
        match *ck.pool.get(e) {
            Expr::Binary(BinOp::Add, a, b) => stack.extend([b, a]),
            Expr::Binary(BinOp::Sub, a, b) => {
                terms.push(ck.pool.neg(b));
                stack.push(a);
            }
            _ => terms.push(e),
        }
    }
}

/// The objects that a pointer is derived from, according to its structure, each with its condition; `None` if there may
/// be others.
pub(super) fn objects_of(ck: &mut Checker<'_>, pointer: ExprId) -> Option<Vec<(ExprId, Object)>> {
    let places = places(ck, pointer);
    let some = places.iter().fold(ck.pool.bool(false), |some, p| ck.pool.or(some, p.here));
    ck.pool.is_true(some).then(|| places.into_iter().map(|p| (p.here, p.object)).collect())
}

/// The value of the alternative whose condition holds.
pub(super) fn choice(
    ck: &mut Checker<'_>,
    among: &[(ExprId, Object)],
    mut value: impl FnMut(&mut Checker<'_>, Object) -> ExprId,
) -> ExprId {
    let mut all: Option<ExprId> = None;
    for &(here, object) in among {
        let one = value(ck, object);
        all = Some(all.map_or(one, |other| ck.pool.ite(here, one, other)));
    }
    all.expect("one at least")
}

// Objects.

pub(super) fn slot(ck: &mut Checker<'_>, st: &State, object: Object) -> Slot {
    match st.memory.get(&object) {
        Some(slot) => slot.clone(),
        None => untouched(ck, object),
    }
}

/// The slot of an object without an entry in the memory.
fn untouched(ck: &mut Checker<'_>, object: Object) -> Slot {
    let Site::Global(global) = ck.objects[object as usize].site else {
        let never = ck.pool.bool(false);
        return Slot { alive: never, content: Rc::new(ck.contents.unknown()) };
    };
    Slot { alive: ck.pool.bool(true), content: Rc::new(Content::new(Base::Initial(global))) }
}

/// The condition that `len` bytes at an offset lie in a live object.
fn is_inside(ck: &mut Checker<'_>, st: &State, place: Referent, len: ExprId, writes: bool) -> ExprId {
    let Slot { alive, .. } = slot(ck, st, place.object);
    let About { size, .. } = ck.objects[place.object as usize];
    if writes && is_read_only(ck, place.object) {
        return ck.pool.bool(false);
    }
    let (fits, last) = (ck.pool.ule(len, size), ck.pool.sub(size, len));
    let inside = ck.pool.ule(place.offset, last);
    let inside = ck.pool.and(fits, inside);
    ck.pool.and(alive, inside)
}

/// The condition that an access lies in one of the objects.
fn is_valid(ck: &mut Checker<'_>, st: &State, places: &[Referent], len: ExprId, writes: bool) -> ExprId {
    let mut valid = ck.pool.bool(false);
    for &place in places {
        let inside = is_inside(ck, st, place, len, writes);
        let here = ck.pool.and(place.here, inside);
        valid = ck.pool.or(valid, here);
    }
    valid
}

/// Checks that the frames of all surrounding loops and recursions permit a change of this object.
fn changes(ck: &mut Checker<'_>, st: &mut State, object: Object, frees: bool) -> Checked {
    if ck.early > 0 {
        return Ok(());
    }
    let site = ck.objects[object as usize].site;
    let frames = ck.around.iter().filter(|a| object < a.objects).map(|a| ck.certificate.frames.get(&a.place));
    let unnamed = frames.flatten().any(|frame| frees || !frame.written.contains(&site));
    match (unnamed, frees) {
        (false, _) => Ok(()),
        (true, true) => ck.never(st, "a loop frees memory that it did not allocate"),
        (true, false) => ck.never(st, "a loop writes an object that its proof does not name"),
    }
}

fn put(st: &mut State, object: Object, slot: Slot) {
    Rc::make_mut(&mut st.memory).insert(object, slot);
}

/// Replaces the content of an object where `here` holds.
fn update(ck: &mut Checker<'_>, st: &mut State, here: ExprId, object: Object, new: Content) -> Checked {
    let mut changing = State { pc: ck.pool.and(st.pc, here), ..st.clone() };
    changes(ck, &mut changing, object, false)?;
    let slot = slot(ck, st, object);
    let content = content::join_content(ck, object, here, new, &slot.content);
    put(st, object, Slot { content: Rc::new(content), ..slot });
    Ok(())
}

/// Applies a write to an unknown place, under the condition `rest`.
fn scatter(ck: &mut Checker<'_>, st: &mut State, rest: ExprId) -> Checked {
    let mut there = State { pc: ck.pool.and(st.pc, rest), ..st.clone() };
    if ck.never(&mut there, "").is_ok() {
        return Ok(());
    }
    for object in all_objects(ck, st) {
        changes(ck, &mut there, object, false)?;
        let slot = slot(ck, st, object);
        let unknown = ck.contents.unknown();
        let content = Rc::new(content::join_content(ck, object, rest, unknown, &slot.content));
        put(st, object, Slot { content, ..slot });
    }
    Ok(())
}

/// All writable objects that may exist.
fn all_objects(ck: &Checker<'_>, st: &State) -> Vec<Object> {
    let globals = 0..ck.program.globals.len() as Object;
    let others = st.memory.keys().copied().filter(|object| !globals.contains(object));
    globals.clone().filter(|&object| !is_read_only(ck, object)).chain(others).collect()
}

fn is_read_only(ck: &Checker<'_>, object: Object) -> bool {
    ck.objects[object as usize].kind == ObjectKind::Global { read_only: true }
}

/// Makes it unknown whether objects of a kind stay alive, under the condition `rest`.
fn may_die(ck: &mut Checker<'_>, st: &mut State, rest: ExprId, of: impl Fn(ObjectKind) -> bool) -> Checked {
    let mut there = State { pc: ck.pool.and(st.pc, rest), ..st.clone() };
    if ck.pool.is_false(there.pc) || ck.never(&mut there, "").is_ok() {
        return Ok(());
    }
    let objects: Vec<Object> = st.memory.keys().copied().collect();
    for object in objects {
        if of(ck.objects[object as usize].kind) {
            let dies = ck.unknown(1);
            let dies = ck.pool.and(rest, dies);
            kill(ck, st, dies, object)?;
        }
    }
    Ok(())
}

/// Checks or assumes that a write is valid, and applies its effect on unknown targets.
fn is_written(ck: &mut Checker<'_>, st: &mut State, places: &[Referent], valid: ExprId, is_asked: bool) -> Checked {
    if is_asked {
        return ck.claim(st, valid, "a write may be invalid");
    }
    let rest = rest(ck, places);
    scatter(ck, st, rest)?;
    let holds = ck.pool.or(valid, rest);
    ck.assume(st, holds);
    Ok(())
}

/// The condition that the target of a pointer is unknown.
fn rest(ck: &mut Checker<'_>, places: &[Referent]) -> ExprId {
    let known = places.iter().fold(ck.pool.bool(false), |known, p| ck.pool.or(known, p.here));
    ck.pool.not(known)
}

pub(super) fn allocate(
    ck: &mut Checker<'_>,
    st: &mut State,
    edge: EdgeId,
    size: ExprId,
    align: u32,
    kind: AllocKind,
    zeroed: bool,
) -> ExprId {
    let width = ck.pointer_width();
    let base = ck.unknown(width);
    let object = ck.objects.len() as Object;
    let size = ck.pool.resize(width, size);
    let kind = match kind {
        AllocKind::Stack => ObjectKind::Stack(ck.frame()),
        AllocKind::Heap(_) | AllocKind::Library(_) | AllocKind::Given | AllocKind::Placeholder => {
            ObjectKind::Heap(kind.family())
        }
    };
    ck.heap_in_loops |= matches!(kind, ObjectKind::Heap(_)) && !ck.around.is_empty();
    let before = Rc::clone(&st.memory);
    ck.objects.push(About { base, size, align, site: Site::Alloc(edge), kind, made: st.pc, before });
    ck.by_base.insert(base, object);
    let content = if zeroed { Content::new(Base::Zero) } else { ck.contents.unknown() };
    let alive = ck.pool.bool(true);
    put(st, object, Slot { alive, content: Rc::new(content) });
    base
}

/// Ends the lifetime of the stack objects of a call that returns.
pub(super) fn end_frame(ck: &mut Checker<'_>, st: &mut State, frame: u32) {
    let objects = &ck.objects;
    let dies = |object: &Object| objects[*object as usize].kind == ObjectKind::Stack(frame);
    if st.memory.keys().any(dies) {
        Rc::make_mut(&mut st.memory).retain(|object, _| !dies(object));
    }
}

/// Ends the lifetime of a stack object before its function returns. Other objects are not affected.
pub(super) fn end_scope(ck: &mut Checker<'_>, st: &mut State, pointer: ExprId) -> Checked {
    let frame = ck.frame();
    let places = places(ck, pointer);
    let rest = rest(ck, &places);
    may_die(ck, st, rest, |kind| kind == ObjectKind::Stack(frame))?;
    for Referent { here, object, .. } in places {
        if ck.objects[object as usize].kind == ObjectKind::Stack(frame) {
            let here = is_start(ck, pointer, here, object);
            kill(ck, st, here, object)?;
        }
    }
    Ok(())
}

/// The condition `here`, and that the pointer is the address of the object.
fn is_start(ck: &mut Checker<'_>, pointer: ExprId, here: ExprId, object: Object) -> ExprId {
    let base = ck.objects[object as usize].base;
    let equal = ck.pool.eq(pointer, base);
    ck.pool.and(here, equal)
}

fn kill(ck: &mut Checker<'_>, st: &mut State, here: ExprId, object: Object) -> Checked {
    if ck.pool.is_false(here) {
        return Ok(());
    }
    let mut changing = State { pc: ck.pool.and(st.pc, here), ..st.clone() };
    changes(ck, &mut changing, object, true)?;
    let slot = slot(ck, st, object);
    let elsewhere = ck.pool.not(here);
    let alive = ck.pool.and(slot.alive, elsewhere);
    put(st, object, Slot { alive, ..slot });
    Ok(())
}

/// Frees an object of the family. A null pointer has no effect.
pub(super) fn free(ck: &mut Checker<'_>, st: &mut State, pointer: ExprId, family: Family, is_asked: bool) -> Checked {
    let is_of_it = |kind: ObjectKind| kind == ObjectKind::Heap(Some(family));
    let zero = ck.word(0);
    let mut valid = ck.pool.eq(pointer, zero);
    let mut freed = Vec::new();
    let places = places(ck, pointer);
    for &Referent { here, object, .. } in &places {
        if is_of_it(ck.objects[object as usize].kind) {
            let start = is_start(ck, pointer, here, object);
            let alive = slot(ck, st, object).alive;
            let here = ck.pool.and(start, alive);
            valid = ck.pool.or(valid, here);
            freed.push((start, object));
        }
    }
    if is_asked {
        ck.claim(st, valid, "an invalid pointer may be freed")?;
    } else {
        let rest = rest(ck, &places);
        let not_null = ck.pool.ne(pointer, zero);
        let unknown = ck.pool.and(rest, not_null);
        may_die(ck, st, unknown, is_of_it)?;
        let holds = ck.pool.or(valid, rest);
        ck.assume(st, holds);
    }
    for (here, object) in freed {
        kill(ck, st, here, object)?;
    }
    Ok(())
}

// Accesses.

pub(super) fn load(
    ck: &mut Checker<'_>,
    st: &mut State,
    pointer: ExprId,
    width: u32,
    is_asked: bool,
) -> Checked<ExprId> {
    let len = width.div_ceil(8);
    let places = places(ck, pointer);
    let length = ck.word(u64::from(len));
    if is_asked {
        let valid = is_valid(ck, st, &places, length, false);
        ck.claim(st, valid, "a read may be invalid")?;
    }
    let mut value = ck.unknown(8 * len);
    for place in places {
        let inside = is_inside(ck, st, place, length, false);
        let here = ck.pool.and(place.here, inside);
        if ck.pool.is_false(here) {
            continue;
        }
        let slot = slot(ck, st, place.object);
        let mut content = (*slot.content).clone();
        let found = content::read(ck, place.object, &mut content, place.offset, len);
        if content.differs(&slot.content) {
            put(st, place.object, Slot { content: Rc::new(content), ..slot });
        }
        value = ck.pool.ite(here, found, value);
    }
    Ok(ck.pool.extract(width - 1, 0, value))
}

pub(super) fn store(ck: &mut Checker<'_>, st: &mut State, pointer: ExprId, value: ExprId, is_asked: bool) -> Checked {
    let len = ck.pool.width(value).div_ceil(8);
    let value = ck.pool.zext(8 * len, value);
    let places = places(ck, pointer);
    let length = ck.word(u64::from(len));
    let valid = is_valid(ck, st, &places, length, true);
    is_written(ck, st, &places, valid, is_asked)?;
    for place in places {
        let mut content = (*slot(ck, st, place.object).content).clone();
        content::write(ck, place.object, &mut content, place.offset, len, value);
        update(ck, st, place.here, place.object, content)?;
    }
    Ok(())
}

pub(super) fn object_size(
    ck: &mut Checker<'_>,
    st: &mut State,
    pointer: ExprId,
    family: Option<Family>,
    is_asked: bool,
) -> Checked<ExprId> {
    let mut value = ck.unknown(ck.pointer_width());
    let mut valid = ck.pool.bool(false);
    for Referent { here, object, .. } in places(ck, pointer) {
        let start = is_start(ck, pointer, here, object);
        if family.is_some() && ck.objects[object as usize].kind != ObjectKind::Heap(family) {
            continue;
        }
        let alive = slot(ck, st, object).alive;
        let here = ck.pool.and(start, alive);
        valid = ck.pool.or(valid, here);
        value = ck.pool.ite(here, ck.objects[object as usize].size, value);
    }
    if is_asked {
        ck.claim(st, valid, "a read may be invalid")?;
    }
    Ok(value)
}

pub(super) fn object_offset(ck: &mut Checker<'_>, st: &State, pointer: ExprId, writable: bool) -> ExprId {
    let nothing = ck.word(0);
    let mut value = ck.unknown(ck.pointer_width());
    for place in places(ck, pointer) {
        let inside = is_inside(ck, st, place, nothing, false);
        let here = ck.pool.and(place.here, inside);
        let offset = match ck.objects[place.object as usize].site {
            Site::Alloc(edge) if ck.program.edges[edge].op.allocates_placeholder() => ck.word(Op::IN_PLACEHOLDER),
            _ if writable && is_read_only(ck, place.object) => ck.word(Op::NOWHERE),
            _ => place.offset,
        };
        value = ck.pool.ite(here, offset, value);
    }
    value
}

pub(super) fn fill(
    ck: &mut Checker<'_>,
    st: &mut State,
    pointer: ExprId,
    byte: ExprId,
    len: ExprId,
    is_asked: bool,
) -> Checked {
    let places = places(ck, pointer);
    let len = ck.pool.resize(ck.pointer_width(), len);
    let valid = is_valid_unless_empty(ck, st, &places, len, true);
    is_written(ck, st, &places, valid, is_asked)?;
    for place in places {
        let mut content = (*slot(ck, st, place.object).content).clone();
        let size = ck.objects[place.object as usize].size;
        match (constant_offset(ck, place.offset), constant(ck, len)) {
            (Some(0), _) if len == size && ck.pool.as_const(byte).is_some_and(cfa::Bv::is_zero) => {
                content = Content::new(Base::Zero);
            }
            (Some(offset), Some(len)) if len <= PIECES => {
                for (at, piece) in pieces(offset, len) {
                    let value = (1..piece).fold(byte, |all, _| ck.pool.concat(byte, all));
                    let at = ck.word(at);
                    content::write(ck, place.object, &mut content, at, piece, value);
                }
            }
            _ => content = ck.contents.unknown(),
        }
        update(ck, st, place.here, place.object, content)?;
    }
    Ok(())
}

pub(super) fn copy(
    ck: &mut Checker<'_>,
    st: &mut State,
    dst: ExprId,
    src: ExprId,
    len: ExprId,
    is_asked: bool,
) -> Checked {
    let (to, from) = (places(ck, dst), places(ck, src));
    let len = ck.pool.resize(ck.pointer_width(), len);
    let valid = is_valid_unless_empty(ck, st, &to, len, true);
    is_written(ck, st, &to, valid, is_asked)?;
    if is_asked {
        let valid = is_valid_unless_empty(ck, st, &from, len, false);
        ck.claim(st, valid, "a read may be invalid")?;
    }
    let always = ck.pool.bool(true);
    for place in to {
        let mut content = (*slot(ck, st, place.object).content).clone();
        let offsets = |this: &Checker<'_>, source: &Referent| {
            Some((constant_offset(this, place.offset)?, constant_offset(this, source.offset)?, constant(this, len)?))
        };
        match from[..] {
            [source] if source.here == always => {
                let is_inside = is_inside(ck, st, source, len, false);
                let slot = slot(ck, st, source.object);
                match offsets(ck, &source) {
                    _ if is_inside != always => content = ck.contents.unknown(),
                    Some((0, 0, n)) if [place, source].iter().all(|p| size(ck, p.object) == Some(n)) => {
                        content = (*slot.content).clone();
                    }
                    Some((to, from, n)) if n <= PIECES => {
                        let mut old = (*slot.content).clone();
                        let mut values = Vec::new();
                        for (at, piece) in old.pieces(from, n) {
                            let offset = ck.word(at);
                            values.push((
                                to + (at - from),
                                piece,
                                content::read(ck, source.object, &mut old, offset, piece),
                            ));
                        }
                        for (at, piece, value) in values {
                            let at = ck.word(at);
                            content::write(ck, place.object, &mut content, at, piece, value);
                        }
                    }
                    _ => content = ck.contents.unknown(),
                }
            }
            _ => content = ck.contents.unknown(),
        }
        update(ck, st, place.here, place.object, content)?;
    }
    Ok(())
}

fn is_valid_unless_empty(ck: &mut Checker<'_>, st: &State, places: &[Referent], len: ExprId, writes: bool) -> ExprId {
    let zero = ck.word(0);
    let empty = ck.pool.eq(len, zero);
    let valid = is_valid(ck, st, places, len, writes);
    ck.pool.or(empty, valid)
}

pub(super) fn constant(ck: &Checker<'_>, e: ExprId) -> Option<u64> {
    ck.pool.as_const(e).and_then(cfa::Bv::to_u64)
}
/// A constant offset that is not negative in two's complement.
pub(super) fn constant_offset(ck: &Checker<'_>, e: ExprId) -> Option<u64> {
    constant(ck, e).filter(|&offset| offset < 1 << (ck.pointer_width() - 1))
}
fn size(ck: &Checker<'_>, object: Object) -> Option<u64> {
    constant(ck, ck.objects[object as usize].size)
}

// Sets of executions.

/// Makes the contents of the objects unknown that a loop or a recursion writes. Without a frame, these are all objects,
/// and it becomes unknown which of them are alive.
pub(super) fn forget_written(ck: &mut Checker<'_>, st: &mut State, frame: Option<&Frame>) -> Checked {
    let mut written = all_objects(ck, st);
    if let Some(frame) = frame {
        written.retain(|&object| frame.written.contains(&ck.objects[object as usize].site));
    }
    for object in written {
        changes(ck, st, object, false)?;
        let mut slot = slot(ck, st, object);
        if frame.is_none() && !matches!(ck.objects[object as usize].kind, ObjectKind::Global { .. }) {
            let stays = ck.unknown(1);
            slot.alive = ck.pool.and(slot.alive, stays);
        }
        let content = Rc::new(ck.contents.unknown());
        put(st, object, Slot { content, ..slot });
    }
    Ok(())
}

pub(super) fn join_memory(ck: &mut Checker<'_>, in_a: ExprId, a: &Memory, in_b: ExprId, b: &Memory) -> Memory {
    if Rc::ptr_eq(a, b) {
        return Rc::clone(a);
    }
    let mut all = Memory::default();
    let objects: std::collections::BTreeSet<Object> = a.keys().chain(b.keys()).copied().collect();
    for object in objects {
        let is_global = matches!(ck.objects[object as usize].site, Site::Global(_));
        let joined = match (a.get(&object).cloned(), b.get(&object).cloned()) {
            (Some(x), Some(y)) => join_slots(ck, object, in_a, x, y),
            (Some(x), None) if is_global => {
                let y = untouched(ck, object);
                join_slots(ck, object, in_a, x, y)
            }
            (None, Some(y)) if is_global => {
                let x = untouched(ck, object);
                join_slots(ck, object, in_a, x, y)
            }
            (Some(x), _) => Slot { alive: ck.pool.and(x.alive, in_a), ..x },
            (None, Some(y)) => Slot { alive: ck.pool.and(y.alive, in_b), ..y },
            (None, None) => unreachable!("one of the two has it"),
        };
        Rc::make_mut(&mut all).insert(object, joined);
    }
    all
}

fn join_slots(ck: &mut Checker<'_>, object: Object, in_a: ExprId, x: Slot, y: Slot) -> Slot {
    let content = match Rc::ptr_eq(&x.content, &y.content) {
        true => x.content,
        false => Rc::new(content::join_content(ck, object, in_a, (*x.content).clone(), &y.content)),
    };
    Slot { alive: ck.pool.ite(in_a, x.alive, y.alive), content }
}

/// Splits a range of bytes into aligned pieces of at most 8 bytes.
pub(super) fn pieces(offset: u64, len: u64) -> impl Iterator<Item = (u64, u32)> {
    let (mut at, end) = (offset, offset + len);
    std::iter::from_fn(move || {
        let piece = [8, 4, 2, 1].into_iter().find(|&n| at.is_multiple_of(n) && at + n <= end)?;
        at += piece;
        Some((at - piece, piece as u32))
    })
}
