//! Classes of objects that no access distinguishes.
//!
//! The same pointers may point to thousands of objects at the same offsets. The analysis treats such objects as one
//! class and processes each access once per class.

use crate::call_graph::CallGraph;
use crate::pointer::{ObjectId, ObjectKind, Places, PointsTo, Shift, outside};
use cfa::graph::Digraph;
use cfa::{AllocKind, EdgeId, FuncId, Id, Op, Program};
use rustc_hash::FxHashMap;

/// A class of objects. Ids are dense from 0.
pub type ClassId = u32;

/// The bytes that an access may touch in the objects of a class: `len` bytes from each offset in `at`. Without `len`,
/// all bytes to the end of the object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Range {
    /// The class of the objects.
    pub class: ClassId,
    /// The offsets of the first byte.
    pub at: Shift,
    /// The number of bytes, if known.
    pub len: Option<u32>,
    /// True for loads and stores, false for copies and similar operations. If `len` is `None`, true for an allocation,
    /// which initialises the whole object.
    pub scalar: bool,
}

/// An access, as a key for deduplication.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    /// The accessed locations, each moved by its shift.
    pub places: Vec<(Places, Shift)>,
    /// The number of bytes, if known.
    pub len: Option<u32>,
    /// True for loads and stores.
    pub scalar: bool,
    /// The accessed part of the objects.
    pub what: Accessed,
}

/// The part of an object that an access touches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Accessed {
    /// The content.
    Content,
    /// The allocation state.
    Life,
    /// The shadow memory; see [`Op::Shadow`].
    Shadow,
}

/// The classes of objects. Each class has two companion classes, whose numbers follow those of all classes: a byte for
/// the allocation state of the objects, and their shadow memory.
pub struct Classes {
    /// By object, its class.
    by_object: Vec<Option<ClassId>>,
    members: Vec<Vec<ObjectId>>,
    sizes: Vec<Option<u64>>,
    /// By points-to set, the classes and shifts of its pointers.
    places: FxHashMap<u32, Vec<(ClassId, Shift)>>,
    /// The points-to sets that may point to any object.
    anywhere: Vec<u32>,
}

impl Classes {
    /// The classes that these accesses distinguish.
    pub fn new(points_to: &PointsTo, single: &Single, accesses: &[Key]) -> Self {
        let mut sets: Vec<u32> = Vec::new();
        let mut signatures = Signatures::new(points_to, single);
        for &(places, _) in accesses.iter().flat_map(|a| &a.places) {
            match places {
                Places::Set(set) => sets.push(set),
                Places::Object(o) => signatures.alone(o),
            }
        }
        sets.sort_unstable();
        sets.dedup();
        let mut anywhere = Vec::new();
        for &set in &sets {
            for l in points_to.set(set) {
                signatures.touch(l.object, set, l.at);
                if matches!(points_to.objects[l.object].kind, ObjectKind::Unknown) {
                    anywhere.push(set);
                }
            }
        }
        anywhere.dedup();
        // Accesses through pointers to any object also touch objects that no other access touches.
        let all = !anywhere.is_empty();
        let mut ids: FxHashMap<[u64; 2], ClassId> = FxHashMap::default();
        let mut this = Self {
            by_object: vec![None; points_to.objects.len()],
            members: Vec::new(),
            sizes: Vec::new(),
            places: FxHashMap::default(),
            anywhere,
        };
        for (o, object) in points_to.objects.iter() {
            let holds_data = matches!(object.kind, ObjectKind::Global(_) | ObjectKind::Alloc(_));
            if !holds_data || !all && !signatures.touched[o.index()] {
                continue;
            }
            let class = *ids.entry(signatures.sums[o.index()]).or_insert_with(|| {
                this.members.push(Vec::new());
                this.sizes.push(object.size);
                this.sizes.len() as ClassId - 1
            });
            this.by_object[o.index()] = Some(class);
            this.members[class as usize].push(o);
        }
        for set in sets {
            let mut places: Vec<(ClassId, Shift)> =
                points_to.set(set).filter_map(|l| Some((this.by_object[l.object.index()]?, l.at))).collect();
            places.sort_unstable();
            places.dedup();
            this.places.insert(set, places);
        }
        this
    }
    /// The number of classes, including companion classes.
    pub fn len(&self) -> usize {
        3 * self.members.len()
    }
    /// The class of an object; `None` if no access touches it.
    pub fn class(&self, object: ObjectId) -> Option<ClassId> {
        self.by_object[object.index()]
    }
    /// The objects of the class, or of the class that it accompanies.
    pub fn members(&self, class: ClassId) -> &[ObjectId] {
        &self.members[class as usize % self.members.len()]
    }
    /// The size of the objects in bytes, if known.
    pub fn size(&self, class: ClassId) -> Option<u64> {
        let count = self.members.len();
        match class as usize / count {
            1 => Some(1),
            _ => self.sizes[class as usize % count],
        }
    }
    /// The shadow class of a class.
    pub fn shadow(&self, class: ClassId) -> ClassId {
        class + 2 * self.members.len() as ClassId
    }
    /// All bytes of all objects.
    fn everything(&self) -> Vec<Range> {
        let all = 0..self.members.len() as ClassId;
        all.map(|class| Range { class, at: Shift::ANY, len: None, scalar: false }).collect()
    }
    /// The allocation state of the objects in a class.
    pub fn life(&self, class: ClassId) -> Range {
        Range { class: class + self.members.len() as ClassId, at: Shift::ZERO, len: Some(1), scalar: true }
    }
    fn lives(&self, places: &[(Places, Shift)]) -> Vec<Range> {
        let mut ranges = Vec::new();
        for &(places, _) in places {
            match places {
                Places::Set(set) if self.anywhere.binary_search(&set).is_ok() => {
                    return (0..self.members.len() as ClassId).map(|class| self.life(class)).collect();
                }
                Places::Set(set) => ranges.extend(self.places[&set].iter().map(|&(class, _)| self.life(class))),
                Places::Object(o) => ranges.extend(self.class(o).map(|class| self.life(class))),
            }
        }
        ranges.sort_unstable();
        ranges.dedup();
        ranges
    }
    /// The ranges that an access may touch, sorted and without duplicates.
    pub fn ranges(&self, key: &Key) -> Vec<Range> {
        match key.what {
            Accessed::Content => self.content(key),
            Accessed::Life => self.lives(&key.places),
            // The shadow memory has the offsets of the content.
            Accessed::Shadow => {
                let content = self.content(key).into_iter();
                content.map(|range| Range { class: self.shadow(range.class), ..range }).collect()
            }
        }
    }
    fn content(&self, key: &Key) -> Vec<Range> {
        let Key { places, len, scalar, .. } = key;
        let (len, scalar) = (*len, *scalar);
        let mut ranges = Vec::new();
        let mut add = |class: ClassId, at: Shift| {
            if at.stride != 0 || len.is_none() || !outside(self.size(class), at.off, len.unwrap_or(1)) {
                let at = if at.stride != 0 && len.is_some_and(|l| at.stride <= l) { Shift::ANY } else { at };
                ranges.push(Range { class, at, len, scalar });
            }
        };
        for &(places, shift) in places {
            match places {
                Places::Set(set) if self.anywhere.binary_search(&set).is_ok() => return self.everything(),
                Places::Set(set) => {
                    for &(class, at) in &self.places[&set] {
                        add(class, if at == Shift::ANY { at } else { at.then(shift) });
                    }
                }
                Places::Object(o) => {
                    if let Some(class) = self.class(o) {
                        add(class, shift);
                    }
                }
            }
        }
        ranges.sort_unstable();
        ranges.dedup();
        ranges
    }
}

/// The signatures that distinguish objects: by object, a sum of hashes of the offsets at which each set points to it.
struct Signatures {
    sums: Vec<[u64; 2]>,
    touched: Vec<bool>,
}

impl Signatures {
    /// Starts with different signatures for objects of different sizes, of different kinds, and in frames of different
    /// functions.
    fn new(points_to: &PointsTo, single: &Single) -> Self {
        let sums = points_to
            .objects
            .iter()
            .map(|(o, object)| {
                let kind = match object.kind {
                    ObjectKind::Global(_) => 1,
                    _ => single.frame(points_to, o).map_or(2, |f| 3 + u64::from(f.0)),
                };
                hash(kind, object.size.map_or(0, |s| s + 1))
            })
            .collect();
        Self { sums, touched: vec![false; points_to.objects.len()] }
    }
    fn add(&mut self, o: ObjectId, [a, b]: [u64; 2]) {
        let s = &mut self.sums[o.index()];
        *s = [s[0].wrapping_add(a), s[1].wrapping_add(b)];
        self.touched[o.index()] = true;
    }
    fn touch(&mut self, o: ObjectId, set: u32, at: Shift) {
        self.add(o, hash(u64::from(set) << 32 | u64::from(at.stride), at.off as u64));
    }
    fn alone(&mut self, o: ObjectId) {
        self.add(o, hash(u64::MAX, u64::from(o.0)));
    }
}

fn hash(a: u64, b: u64) -> [u64; 2] {
    let mix = |mut x: u64| {
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    [0x9e37_79b9_7f4a_7c15, 0x1234_5678_9abc_def1].map(|k| mix(mix(a.wrapping_add(k)).wrapping_add(b ^ k)))
}

/// Decides which abstract objects represent a single concrete object at a time.
pub struct Single<'a> {
    program: &'a Program,
    calls: &'a CallGraph,
    in_cycle: FxHashMap<EdgeId, bool>,
}

impl<'a> Single<'a> {
    /// Prepares the decision for a program.
    pub fn new(program: &'a Program, calls: &'a CallGraph) -> Self {
        Self { program, calls, in_cycle: alloc_cycles(program) }
    }
    /// Returns true if the abstract object represents at most one concrete object at a time.
    pub fn is(&self, points_to: &PointsTo, object: ObjectId) -> bool {
        match points_to.objects[object].kind {
            ObjectKind::Global(_) => true,
            ObjectKind::Alloc(e) => self.frame(points_to, object).is_some() && !self.in_cycle[&e],
            _ => false,
        }
    }
    /// The function whose frame contains the object; `None` if the function may have several frames at a time.
    pub fn frame(&self, points_to: &PointsTo, object: ObjectId) -> Option<FuncId> {
        let ObjectKind::Alloc(e) = points_to.objects[object].kind else { return None };
        let Op::Alloc { kind: AllocKind::Stack, .. } = self.program.edges[e].op else { return None };
        let f = self.program.func_of(e);
        (!self.calls.is_recursive(f)).then_some(f)
    }
}

/// For each allocation edge, true if control can return to it within its function.
fn alloc_cycles(program: &Program) -> FxHashMap<EdgeId, bool> {
    let flow: Vec<_> = program.edges.values().map(|e| (e.source.0, e.target.0)).collect();
    let components = Digraph::new(program.locs.len(), &flow).components();
    let allocs = program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Alloc { .. }));
    allocs.map(|(id, e)| (id, components.component(e.source.0) == components.component(e.target.0))).collect()
}
