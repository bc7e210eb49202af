//! Abstract memory: objects, locations in them, and slots, through which accesses read and write.

use super::terms::{LeafTransform, Shift, gcd};
use cfa::{EdgeId, Expr, FuncId, GlobalId, Op, Program, Table};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// An abstract object. It represents a global, the objects of an allocation edge, or a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ObjectId(pub u32);

/// A location that pointers can point to: an object and an offset.
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

/// The kind of an abstract object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    /// A global variable in memory.
    Global(GlobalId),
    /// The objects that this `Alloc` edge creates: all, or those of one calling context.
    Alloc(EdgeId),
    /// A function, as the target of a function pointer.
    Func(FuncId),
    /// The target of pointers from the environment: any object.
    Unknown,
    /// Not an object, but a mark of values that may come from the environment. Solutions do not contain it.
    Outside,
    /// A temporary object for the data of a `Copy` edge, between its source and its destination.
    Buffer(EdgeId),
    /// Not an object, but the distance from any object to this one, as an element of sets of integers.
    Distance(ObjectId),
}

/// An abstract object.
#[derive(Clone, Debug)]
pub struct Object {
    /// The kind of the object.
    pub kind: ObjectKind,
    /// The size in bytes, if known.
    pub size: Option<u64>,
    /// The number of locations inside the object.
    locations: u32,
    /// The number of locations outside the object.
    outside: u32,
    /// True if the object has lost its fields: it has one location and one slot.
    whole: bool,
    /// True if the object never holds pointers.
    constant: bool,
    /// The slots that accesses use.
    pub slots: Slots,
}

/// The maximal number of locations or slots; an object with more loses its fields. An object of unknown size is usually
/// the result of a general allocator, so it has the fields of many types.
fn most_locations(size: Option<u64>) -> u32 {
    // Fields have about eight bytes. More offsets than fields do not come from types.
    size.map_or(48, |size| (size / 8 + 8).min(256) as u32)
}
/// The maximal numbers for an object: offsets outside it, slots, slots if its size is unknown, and strided slots.
const MANY_OUTSIDE: u32 = 4;
const MANY_SLOTS: usize = 4096;
const MANY_SLOTS_UNSIZED: usize = 192;
const MANY_STRIDED: usize = 16;

/// A location: an object and the offsets in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Location {
    /// The object.
    pub object: ObjectId,
    /// The offsets from its start.
    pub at: Shift,
}

/// The bytes that an access may touch: `width` bytes at each offset in `at`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Slot {
    /// The offsets of the first byte.
    pub at: Shift,
    /// The number of bytes.
    pub width: u32,
}

impl Slot {
    /// The slot of all bytes.
    pub const WHOLE: Self = Self { at: Shift::ANY, width: 1 };

    /// The slot of an access. It is [`WHOLE`](Self::WHOLE) if the accesses at different offsets overlap or are
    /// adjacent.
    pub fn new(at: Shift, width: u32) -> Self {
        if at.stride != 0 && at.stride <= width { Self::WHOLE } else { Self { at, width } }
    }
    /// Returns true if the two slots may share a byte.
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

/// The slots of an object that accesses use. Each has two nodes in the constraint graph: for the values written through
/// it, and for the values that may be read through it.
#[derive(Clone, Default, Debug)]
pub struct Slots {
    /// The slots at one offset, by offset and width.
    pub exact: BTreeMap<(i64, u32), SlotNodes>,
    /// The slots at strided offsets.
    pub strided: Vec<(Slot, SlotNodes)>,
    max_width: u32,
}

/// The nodes of a slot in the constraint graph.
#[derive(Clone, Copy, Debug)]
pub struct SlotNodes {
    /// The values written through the slot.
    pub written: u32,
    /// The values that reads through the slot may return.
    pub read: u32,
}

impl Slots {
    /// The nodes of the slot, if accesses use it.
    pub fn find(&self, slot: &Slot) -> Option<SlotNodes> {
        if slot.at.stride == 0 {
            self.exact.get(&(slot.at.off, slot.width)).copied()
        } else {
            self.strided.iter().find(|s| s.0 == *slot).map(|s| s.1)
        }
    }
    /// All slots with their nodes.
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
    /// Adds the nodes of the slots that may overlap `slot` to `out`.
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

/// The abstract objects and locations of a program.
pub struct Memory {
    /// The objects.
    pub objects: Table<ObjectId, Object>,
    /// The locations.
    pub locations: Table<LocationId, Location>,
    interned: FxHashMap<Location, LocationId>,
    /// The objects of an allocation edge, one for each context found so far.
    pub alloc_objects: FxHashMap<EdgeId, Vec<ObjectId>>,
    distances: FxHashMap<ObjectId, ObjectId>,
    global_count: u32,
    func_count: u32,
    /// The object that represents any object.
    pub unknown: ObjectId,
    /// The object of the mark of values that may come from the environment.
    outside: ObjectId,
    /// If set, locations have no offsets and objects have one slot: cheaper and less precise.
    pub flat: bool,
    crowded: Vec<ObjectId>,
}

/// The result of looking up a slot.
pub enum SlotLookup {
    /// The slot exists.
    Known(SlotNodes),
    /// The slot is new. It has these nodes and overlaps these slots.
    Made(SlotNodes, Slot, Vec<SlotNodes>),
    /// The slot is out of the object's bounds, or the object holds no pointers.
    Outside,
}

impl Memory {
    /// Creates one object for each global and each function.
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
        let outside = objects.push(object(ObjectKind::Outside, None));
        Self {
            objects,
            locations: Table::new(),
            interned: FxHashMap::default(),
            alloc_objects: FxHashMap::default(),
            distances: FxHashMap::default(),
            global_count: program.globals.len() as u32,
            func_count: program.funcs.len() as u32,
            unknown,
            outside,
            flat,
            crowded: Vec::new(),
        }
    }
    fn object(&mut self, kind: ObjectKind, size: Option<u64>) -> ObjectId {
        let slots = Slots::default();
        self.objects.push(Object { kind, size, locations: 0, outside: 0, whole: false, constant: false, slots })
    }
    /// The temporary object of a copy.
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
    /// The mark of values that may come from the environment.
    pub fn mark(&mut self) -> LocationId {
        self.location(self.outside, Shift::ZERO)
    }
    /// Returns true if the location is the mark of values that may come from the environment.
    pub fn is_mark(&self, location: LocationId) -> bool {
        self.locations[location].object == self.outside
    }
    /// The object of a global.
    pub fn global(&self, g: GlobalId) -> ObjectId {
        debug_assert!(g.0 < self.global_count);
        ObjectId(g.0)
    }
    /// The object of a function.
    pub fn func(&self, f: FuncId) -> ObjectId {
        debug_assert!(f.0 < self.func_count);
        ObjectId(self.global_count + f.0)
    }
    /// The location at these offsets of the object. Objects with too many locations have only one.
    pub fn location(&mut self, object: ObjectId, at: Shift) -> LocationId {
        let o = &mut self.objects[object];
        let at = match o.kind {
            ObjectKind::Unknown => Shift::ANY,
            _ if o.whole => Shift::ANY,
            // A pointer to a function calls that function, whatever its offset.
            ObjectKind::Func(_) | ObjectKind::Distance(_) | ObjectKind::Outside => Shift::ZERO,
            _ if self.flat => Shift::ANY,
            _ => at,
        };
        if let Some(&l) = self.interned.get(&Location { object, at }) {
            return l;
        }
        // Pointers outside their object may not be dereferenced there, so few offsets suffice.
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
    /// The location after `way` has been applied to a pointer or a distance; `None` if it leads nowhere.
    pub fn moved(&mut self, location: LocationId, way: LeafTransform) -> Option<LocationId> {
        let Location { object, at } = self.locations[location];
        let of = match self.objects[object].kind {
            ObjectKind::Distance(of) => Some(of),
            _ => None,
        };
        match (way, of) {
            (LeafTransform::SAME, _) | (LeafTransform::Moved(_) | LeafTransform::Distance, Some(_)) => Some(location),
            (LeafTransform::Moved(by), None) => Some(self.location(object, at.then(by))),
            (LeafTransform::Distance | LeafTransform::Exposure, None) if object == self.outside => None,
            (LeafTransform::Distance, None) => Some(self.distance(object)),
            (LeafTransform::Arrival, of) => of.map(|of| self.location(of, Shift::ANY)),
            (LeafTransform::Exposure, None) => Some(self.location(object, Shift::ANY)),
            (LeafTransform::Exposure, Some(_)) | (LeafTransform::Number, None) => None,
            (LeafTransform::Number, Some(_)) => Some(location),
        }
    }
    /// The location that represents the distance to an object.
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
    /// True if the object has bytes that can be accessed.
    pub fn has_bytes(&self, object: ObjectId) -> bool {
        !matches!(self.objects[object].kind, ObjectKind::Func(_) | ObjectKind::Distance(_) | ObjectKind::Outside)
    }
    /// Returns the objects that became too large since the last call.
    pub fn take_crowded(&mut self) -> Vec<ObjectId> {
        let mut crowded = std::mem::take(&mut self.crowded);
        crowded.sort_unstable();
        crowded.dedup();
        crowded.retain(|&o| !self.objects[o].whole);
        crowded
    }
    /// Returns true if the object has lost its fields.
    pub fn is_whole(&self, object: ObjectId) -> bool {
        self.objects[object].whole
    }
    /// Reduces the object to one location. If `node` is given, the object also has one slot with this node.
    pub fn collapse(&mut self, object: ObjectId, node: Option<u32>) {
        let o = &mut self.objects[object];
        o.whole = true;
        o.slots = Slots::default();
        if let Some(node) = node {
            o.slots.insert(Slot::WHOLE, SlotNodes { written: node, read: node });
        }
    }
    /// Finds or creates the slot of `object` for an access of `width` bytes at `at`. `nodes` creates the nodes of a new
    /// slot.
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

/// Returns true if no byte of the access lies in an object of this size. `off` and `width` are in bytes.
pub fn outside(size: Option<u64>, off: i64, width: u32) -> bool {
    size.is_some_and(|size| off >= i64::try_from(size).unwrap_or(i64::MAX)) || off + i64::from(width) <= 0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decides by enumeration of offsets whether two slots overlap.
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
