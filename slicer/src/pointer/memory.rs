//! Abstract memory: objects, locations in them, and the slots through which they are read and written.

use super::terms::{Shift, Way, gcd};
use cfa::{EdgeId, Expr, FuncId, GlobalId, Op, Program, Table};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// An abstract object: what one global, one allocation edge or one function stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId(pub u32);

/// A place pointers can point to: an object and a distance from its start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LocationId(pub u32);

impl cfa::Id for ObjectId {
    fn from_index(index: usize) -> Self {
        Self(index as u32)
    }
    fn index(self) -> usize {
        self.0 as usize
    }
}
impl cfa::Id for LocationId {
    fn from_index(index: usize) -> Self {
        Self(index as u32)
    }
    fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    Global(GlobalId),
    /// Objects that this `Alloc` edge makes: all, or those it makes in one calling context.
    Alloc(EdgeId),
    Func(FuncId),
    /// Whatever the environment may point to: any object.
    Unknown,
    /// What a `Copy` edge carries, between its source and its destination.
    Buffer(EdgeId),
    /// Not an object: how far it is from others to this one, in the sets of integers.
    Distance(ObjectId),
}

#[derive(Clone, Debug)]
pub struct Object {
    pub kind: ObjectKind,
    /// Bytes, where they are known.
    pub size: Option<u64>,
    /// How many different locations in it have been made, and how many of them outside.
    locations: u32,
    outside: u32,
    /// It has lost its fields: one location, one slot.
    whole: bool,
    /// It never holds pointers.
    constant: bool,
    pub slots: Slots,
}

/// Objects with more locations or slots than this lose their fields. An object of unknown size is in general
/// what an allocator hands out for everything: its fields are those of many types.
fn most_locations(size: Option<u64>) -> u32 {
    // A field has eight bytes, more or less; more offsets than fields are nothing that types say.
    size.map_or(48, |size| (size / 8 + 8).min(256) as u32)
}
/// Of pointers outside their object, and of pointers to elements of arrays, so many offsets are told apart.
const MANY_OUTSIDE: u32 = 4;
const MANY_SLOTS: usize = 4096;
const MANY_SLOTS_UNSIZED: usize = 192;
const MANY_STRIDED: usize = 16;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Location {
    pub object: ObjectId,
    pub at: Shift,
}

/// The bytes that an access may touch: `width` bytes from every offset of `at`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slot {
    pub at: Shift,
    pub width: u32,
}

impl Slot {
    pub const WHOLE: Self = Self { at: Shift::ANY, width: 1 };

    pub fn new(at: Shift, width: u32) -> Self {
        if at.stride != 0 && at.stride <= width { Self::WHOLE } else { Self { at, width } }
    }
    /// Whether the two may have a byte in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        let distance = self.at.off - other.at.off;
        match gcd(self.at.stride, other.at.stride) {
            0 => distance < i64::from(other.width) && -distance < i64::from(self.width),
            stride => {
                let stride = i64::from(stride);
                distance.rem_euclid(stride) < i64::from(other.width)
                    || (-distance).rem_euclid(stride) < i64::from(self.width)
            }
        }
    }
}

/// The slots of an object that have been used. Each has two nodes in the constraint graph: what was written
/// through it, and what may be read through it.
#[derive(Clone, Default, Debug)]
pub struct Slots {
    pub exact: BTreeMap<(i64, u32), SlotNodes>,
    pub strided: Vec<(Slot, SlotNodes)>,
    max_width: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct SlotNodes {
    pub written: u32,
    pub read: u32,
}

impl Slots {
    pub fn find(&self, slot: &Slot) -> Option<SlotNodes> {
        if slot.at.stride == 0 {
            self.exact.get(&(slot.at.off, slot.width)).copied()
        } else {
            self.strided.iter().find(|s| s.0 == *slot).map(|s| s.1)
        }
    }
    pub fn iter(&self) -> impl Iterator<Item = (Slot, SlotNodes)> + '_ {
        let exact = self.exact.iter().map(|(&(off, width), &n)| (Slot { at: Shift { off, stride: 0 }, width }, n));
        exact.chain(self.strided.iter().copied())
    }
    fn insert(&mut self, slot: Slot, nodes: SlotNodes) {
        if slot.at.stride == 0 {
            self.max_width = self.max_width.max(slot.width);
            self.exact.insert((slot.at.off, slot.width), nodes);
        } else {
            self.strided.push((slot, nodes));
        }
    }
    /// The slots that may overlap `slot`.
    fn overlapping(&self, slot: &Slot, out: &mut Vec<SlotNodes>) {
        if slot.at.stride == 0 {
            let from = slot.at.off - i64::from(self.max_width);
            let to = slot.at.off + i64::from(slot.width);
            for (&(off, width), &nodes) in self.exact.range((from, 0)..(to, 0)) {
                if off + i64::from(width) > slot.at.off {
                    out.push(nodes);
                }
            }
        } else {
            for (&(off, width), &nodes) in &self.exact {
                if slot.overlaps(&Slot { at: Shift { off, stride: 0 }, width }) {
                    out.push(nodes);
                }
            }
        }
        out.extend(self.strided.iter().filter(|s| s.0.overlaps(slot)).map(|s| s.1));
    }
}

/// All objects and locations of a program.
pub struct Memory {
    pub objects: Table<ObjectId, Object>,
    pub locations: Table<LocationId, Location>,
    interned: FxHashMap<Location, LocationId>,
    /// The objects of an allocation edge, one for each context that has come up.
    pub alloc_objects: FxHashMap<EdgeId, Vec<ObjectId>>,
    distances: FxHashMap<ObjectId, ObjectId>,
    global_count: u32,
    func_count: u32,
    pub unknown: ObjectId,
    /// Locations without offsets and objects of one slot: cheaper, less precise.
    pub flat: bool,
    crowded: Vec<ObjectId>,
}

/// A slot was asked for.
pub enum SlotLookup {
    Known(SlotNodes),
    /// New, with these nodes; it overlaps these slots.
    Made(SlotNodes, Slot, Vec<SlotNodes>),
    /// Out of the object's bounds, or the object holds no pointers.
    Outside,
}

impl Memory {
    /// One object for each global and function.
    pub fn new(program: &Program, flat: bool) -> Self {
        let mut objects = Table::new();
        let object = |kind, size| Object {
            kind,
            size,
            locations: 0,
            outside: 0,
            whole: false,
            constant: false,
            slots: Slots::default(),
        };
        for (g, global) in program.globals.iter() {
            let known = global.init.is_some() || global.size > 0;
            let id = objects.push(object(ObjectKind::Global(g), known.then_some(global.size)));
            let constant = global.read_only && global.init.as_ref().is_some_and(|i| i.pointers.is_empty());
            objects[id].whole = constant;
            objects[id].constant = constant;
        }
        for f in program.funcs.ids() {
            objects.push(object(ObjectKind::Func(f), Some(1)));
        }
        let unknown = objects.push(object(ObjectKind::Unknown, None));
        Self {
            objects,
            locations: Table::new(),
            interned: FxHashMap::default(),
            alloc_objects: FxHashMap::default(),
            distances: FxHashMap::default(),
            global_count: program.globals.len() as u32,
            func_count: program.funcs.len() as u32,
            unknown,
            flat,
            crowded: Vec::new(),
        }
    }
    fn object(&mut self, kind: ObjectKind, size: Option<u64>) -> ObjectId {
        let slots = Slots::default();
        self.objects.push(Object { kind, size, locations: 0, outside: 0, whole: false, constant: false, slots })
    }
    /// What one copy carries.
    pub fn buffer(&mut self, copy: EdgeId) -> ObjectId {
        self.object(ObjectKind::Buffer(copy), None)
    }
    /// A new object for an allocation edge.
    pub fn allocate(&mut self, program: &Program, edge: EdgeId) -> ObjectId {
        let Op::Alloc { size, .. } = program.edges[edge].op else { unreachable!("an allocation") };
        let size = match program.exprs.get(size) {
            Expr::Const(c) => c.to_u64(),
            _ => None,
        };
        let id = self.object(ObjectKind::Alloc(edge), size);
        self.alloc_objects.entry(edge).or_default().push(id);
        id
    }
    pub fn global(&self, g: GlobalId) -> ObjectId {
        debug_assert!(g.0 < self.global_count);
        ObjectId(g.0)
    }
    pub fn func(&self, f: FuncId) -> ObjectId {
        debug_assert!(f.0 < self.func_count);
        ObjectId(self.global_count + f.0)
    }
    pub fn location(&mut self, object: ObjectId, at: Shift) -> LocationId {
        let o = &mut self.objects[object];
        let at = match o.kind {
            ObjectKind::Unknown => Shift::ANY,
            _ if o.whole => Shift::ANY,
            // However it was moved, it can only be called as the function.
            ObjectKind::Func(_) | ObjectKind::Distance(_) => Shift::ZERO,
            _ if self.flat => Shift::ANY,
            _ => at,
        };
        if let Some(&l) = self.interned.get(&Location { object, at }) {
            return l;
        }
        // Pointers outside their object are not to be used before they come back: a few offsets suffice.
        let is_outside = at.stride == 0 && (at.off < 0 || o.size.is_some_and(|size| at.off.unsigned_abs() > size));
        let limit = most_locations(o.size);
        let full = if is_outside { o.outside >= MANY_OUTSIDE } else { o.locations >= limit };
        let at = if full { Shift::ANY } else { at };
        let location = Location { object, at };
        let (locations, crowded) = (&mut self.locations, &mut self.crowded);
        *self.interned.entry(location).or_insert_with(|| {
            o.outside += u32::from(is_outside);
            o.locations += u32::from(!is_outside);
            if o.locations == limit && !is_outside {
                crowded.push(object);
            }
            locations.push(location)
        })
    }
    /// What becomes of a pointer or a distance.
    pub fn moved(&mut self, location: LocationId, way: Way) -> Option<LocationId> {
        let Location { object, at } = self.locations[location];
        let of = match self.objects[object].kind {
            ObjectKind::Distance(of) => Some(of),
            _ => None,
        };
        match (way, of) {
            (Way::SAME, _) | (Way::Moved(_) | Way::Distance, Some(_)) => Some(location),
            (Way::Moved(by), None) => Some(self.location(object, at.then(by))),
            (Way::Distance, None) => Some(self.distance(object)),
            (Way::Arrival, of) => of.map(|of| self.location(of, Shift::ANY)),
        }
    }
    /// How far it is to an object.
    pub fn distance(&mut self, of: ObjectId) -> LocationId {
        let object = match self.distances.get(&of) {
            Some(&known) => known,
            None => {
                let made = self.object(ObjectKind::Distance(of), None);
                self.distances.insert(of, made);
                made
            }
        };
        self.location(object, Shift::ZERO)
    }
    /// Whether there are bytes to access.
    pub fn has_bytes(&self, object: ObjectId) -> bool {
        !matches!(self.objects[object].kind, ObjectKind::Func(_) | ObjectKind::Distance(_))
    }
    /// The objects that have become crowded since the last time.
    pub fn take_crowded(&mut self) -> Vec<ObjectId> {
        let mut crowded = std::mem::take(&mut self.crowded);
        crowded.sort_unstable();
        crowded.dedup();
        crowded.retain(|&o| !self.objects[o].whole);
        crowded
    }
    pub fn is_whole(&self, object: ObjectId) -> bool {
        self.objects[object].whole
    }
    /// From now on the object has one location and, with this node, one slot.
    pub fn collapse(&mut self, object: ObjectId, node: Option<u32>) {
        let o = &mut self.objects[object];
        o.whole = true;
        o.slots = Slots::default();
        if let Some(node) = node {
            o.slots.insert(Slot::WHOLE, SlotNodes { written: node, read: node });
        }
    }
    /// The slot of `object` for an access of `width` bytes at `at`; `nodes` makes the nodes of a new one.
    pub fn slot(&mut self, object: ObjectId, at: Shift, width: u32, nodes: impl FnOnce() -> SlotNodes) -> SlotLookup {
        let flat = self.flat;
        let o = &mut self.objects[object];
        if o.constant {
            return SlotLookup::Outside;
        }
        let mut slot = if flat || o.whole { Slot::WHOLE } else { Slot::new(at, width) };
        if slot.at.stride == 0 && outside(o.size, slot.at.off, slot.width) {
            return SlotLookup::Outside;
        }
        if let Some(nodes) = o.slots.find(&slot) {
            return SlotLookup::Known(nodes);
        }
        let limit = if o.size.is_some() { MANY_SLOTS } else { MANY_SLOTS_UNSIZED };
        let full = match slot.at.stride {
            0 => o.slots.exact.len() >= limit,
            _ => o.slots.strided.len() >= MANY_STRIDED,
        };
        if o.slots.exact.len() == limit && slot.at.stride == 0 {
            self.crowded.push(object);
        }
        if full {
            slot = Slot::WHOLE;
            if let Some(nodes) = o.slots.find(&slot) {
                return SlotLookup::Known(nodes);
            }
        }
        let mut overlapping = Vec::new();
        o.slots.overlapping(&slot, &mut overlapping);
        let nodes = nodes();
        o.slots.insert(slot, nodes);
        SlotLookup::Made(nodes, slot, overlapping)
    }
}

/// Whether no byte of the access lies in the object.
pub fn outside(size: Option<u64>, off: i64, width: u32) -> bool {
    size.is_some_and(|size| off >= i64::try_from(size).unwrap_or(i64::MAX)) || off + i64::from(width) <= 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether two slots overlap, by trying all offsets of a stretch of memory.
    fn overlap_by_trying(a: &Slot, b: &Slot) -> bool {
        let starts = |s: &Slot| -> Vec<i64> {
            match s.at.stride {
                0 => vec![s.at.off],
                stride => (-300..300).filter(|o| (o - s.at.off).rem_euclid(i64::from(stride)) == 0).collect(),
            }
        };
        starts(a).iter().any(|&x| starts(b).iter().any(|&y| x < y + i64::from(b.width) && y < x + i64::from(a.width)))
    }

    #[test]
    fn overlap_of_slots() {
        let mut slots = Vec::new();
        for stride in [0, 1, 6, 8, 12] {
            for off in [0i64, 1, 4, 7, 9] {
                for width in [1, 2, 4, 8] {
                    let off = if stride == 0 { off } else { off.rem_euclid(i64::from(stride)) };
                    slots.push(Slot { at: Shift { off, stride }, width });
                }
            }
        }
        for a in &slots {
            for b in &slots {
                assert_eq!(a.overlaps(b), overlap_by_trying(a, b), "{a:?} {b:?}");
            }
        }
    }
}
