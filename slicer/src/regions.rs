//! Memory in regions: classes of bytes that every access of the program touches all or none of.
//!
//! The bytes of each object fall into cells: the disjoint intervals that scalar accesses at known offsets
//! form, the residue classes that accesses at strided offsets form, and the rest. Cells that the same accesses
//! touch are one region, so there are only as many regions as the program can tell apart.

use crate::call_graph::CallGraph;
use crate::pointer::{Location, ObjectId, ObjectKind, PointsTo, Shift, Slot, gcd, outside};
use cfa::{AllocKind, EdgeId, ExprId, FuncId, Id, Op, Program};
use rustc_hash::FxHashMap;

/// A region of memory; dense from 0.
pub type RegionId = u32;

/// What a memory operation touches: sorted regions.
#[derive(Clone, Copy, Default, Debug)]
pub struct Access {
    reads: u32,
    writes: u32,
    /// Of the regions written, those that nothing of the old content survives in.
    kills: u32,
}

pub struct Regions {
    accesses: FxHashMap<EdgeId, Access>,
    /// Distinct sets of regions; the first is empty.
    sets: Vec<Box<[RegionId]>>,
    pub count: u32,
    /// The function in whose frames all of a region lies, if there is one, and it is not recursive.
    pub owner: Vec<Option<FuncId>>,
    /// The objects that a region has bytes of, ascending.
    pub objects: Vec<Box<[ObjectId]>>,
    /// By object, the set of its regions.
    of_object: Vec<u32>,
}

impl Regions {
    pub fn reads(&self, edge: EdgeId) -> &[RegionId] {
        self.set(edge, |a| a.reads)
    }
    pub fn writes(&self, edge: EdgeId) -> &[RegionId] {
        self.set(edge, |a| a.writes)
    }
    pub fn kills(&self, edge: EdgeId) -> &[RegionId] {
        self.set(edge, |a| a.kills)
    }
    /// The regions with bytes of the object.
    pub fn of_object(&self, object: ObjectId) -> &[RegionId] {
        &self.sets[self.of_object[object.index()] as usize]
    }
    fn set(&self, edge: EdgeId, which: impl Fn(&Access) -> u32) -> &[RegionId] {
        self.accesses.get(&edge).map_or(&[], |a| &self.sets[which(a) as usize])
    }

    /// `edges` are those that can be executed.
    pub fn compute(
        program: &Program,
        points_to: &mut PointsTo,
        calls: &CallGraph,
        edges: impl Iterator<Item = EdgeId>,
    ) -> Self {
        let mut ranges = Ranges::default();
        let mut raw: Vec<(EdgeId, u32, u32)> = Vec::new();
        for id in edges {
            let bytes = |bits: u32| Some(bits.div_ceil(8));
            let constant = |e: ExprId| program.exprs.as_const(e)?.to_u64().and_then(|l| u32::try_from(l).ok());
            let (read, write) = match program.edges[id].op {
                Op::Load { var, addr } => (Some((addr, bytes(program.vars[var].width), true)), None),
                Op::Store { addr, value } => (None, Some((addr, bytes(program.exprs.width(value)), true))),
                Op::Copy { dst, src, len } => (Some((src, constant(len), false)), Some((dst, constant(len), false))),
                Op::Fill { dst, len, .. } => (None, Some((dst, constant(len), false))),
                // What is read of an object that was freed is not what was written to it.
                Op::Free { ptr } => (None, Some((ptr, None, false))),
                Op::Alloc { .. } => {
                    let range = |&object: &ObjectId| Range { object, at: Shift::ZERO, len: None, scalar: true };
                    let whole = ranges.intern(points_to.allocs(id).iter().map(range).collect());
                    raw.push((id, 0, whole));
                    continue;
                }
                _ => continue,
            };
            let mut range = |a: Option<(ExprId, Option<u32>, bool)>| {
                a.map_or(0, |(e, len, scalar)| ranges.of(points_to, e, len, scalar))
            };
            raw.push((id, range(read), range(write)));
        }
        let cells = Cells::new(points_to, &ranges);
        let mut partition = Partition::new(cells.count);
        let cell_sets: Vec<Vec<u32>> = ranges.distinct.iter().map(|r| cells.touched(r)).collect();
        for (id, set) in cell_sets.iter().enumerate() {
            partition.refine(set, id as u64);
        }
        partition.finish();
        // The regions of each set of ranges, and which of them the ranges cover.
        let single = Single { program, calls, in_cycle: alloc_cycles(program) };
        let mut sets = Sets::default();
        let mut of_ranges: Vec<(u32, u32)> = Vec::new();
        for (set, range) in cell_sets.iter().zip(&ranges.distinct) {
            let regions = partition.regions(set);
            let killed = match range[..] {
                [range] if single.is(points_to, range.object) => regions
                    .iter()
                    .copied()
                    .filter(|&r| partition.members[r as usize].iter().all(|&c| cells.covered(points_to, c, &range)))
                    .collect(),
                _ => Vec::new(),
            };
            of_ranges.push((sets.intern(regions), sets.intern(killed)));
        }
        let accesses = raw
            .into_iter()
            .map(|(id, read, write)| {
                let (writes, kills) = of_ranges[write as usize];
                (id, Access { reads: of_ranges[read as usize].0, writes, kills })
            })
            .collect();
        let owner = partition
            .members
            .iter()
            .map(|members| {
                let mut owners = members.iter().map(|&c| single.frame(points_to, cells.object_of(c)));
                let first = owners.next()??;
                owners.all(|o| o == Some(first)).then_some(first)
            })
            .collect();
        let mut objects: Vec<Vec<ObjectId>> =
            partition.members.iter().map(|m| m.iter().map(|&c| cells.object_of(c)).collect()).collect();
        objects.iter_mut().for_each(|o| o.dedup());
        let mut by_object: Vec<Vec<RegionId>> = vec![Vec::new(); points_to.objects.len()];
        for (region, objects) in objects.iter().enumerate() {
            objects.iter().for_each(|o| by_object[o.index()].push(region as u32));
        }
        Self {
            accesses,
            of_object: by_object.into_iter().map(|regions| sets.intern(regions)).collect(),
            sets: sets.sets,
            count: partition.members.len() as u32,
            owner,
            objects: objects.into_iter().map(Vec::into_boxed_slice).collect(),
        }
    }
}

/// Bytes that an access may touch in one object: `len` bytes, or all to the end, from the offsets `at`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Range {
    object: ObjectId,
    at: Shift,
    len: Option<u32>,
    /// The access is a load or store rather than a copy or the like; without `len` it is an allocation, which
    /// gives the whole object its content.
    scalar: bool,
}

type RangeKey = (Vec<(u64, Shift)>, Option<u32>, bool);

/// The accesses of a program by what they may touch.
struct Ranges {
    distinct: Vec<Vec<Range>>,
    ids: FxHashMap<Vec<Range>, u32>,
    by_key: FxHashMap<RangeKey, u32>,
}

impl Default for Ranges {
    fn default() -> Self {
        let mut ids = FxHashMap::default();
        ids.insert(Vec::new(), 0);
        Self { distinct: vec![Vec::new()], ids, by_key: FxHashMap::default() }
    }
}

impl Ranges {
    fn intern(&mut self, ranges: Vec<Range>) -> u32 {
        let next = self.distinct.len() as u32;
        *self.ids.entry(ranges).or_insert_with_key(|ranges| {
            self.distinct.push(ranges.clone());
            next
        })
    }
    fn of(&mut self, points_to: &mut PointsTo, address: ExprId, len: Option<u32>, scalar: bool) -> u32 {
        let key = (points_to.set_key(address), len, scalar);
        if let Some(&known) = self.by_key.get(&key) {
            return known;
        }
        let mut ranges = Vec::new();
        let mut anything = false;
        for Location { object, at } in points_to.points_to(address) {
            match points_to.objects[object].kind {
                ObjectKind::Global(_) | ObjectKind::Alloc(_) => {
                    let width = len.unwrap_or(1);
                    if at.stride != 0 || len.is_none() || !outside(points_to.objects[object].size, at.off, width) {
                        let at = if at.stride != 0 && len.is_some_and(|l| at.stride <= l) { Shift::ANY } else { at };
                        ranges.push(Range { object, at, len, scalar });
                    }
                }
                ObjectKind::Unknown => anything = true,
                ObjectKind::Func(_) | ObjectKind::Buffer(_) => {}
            }
        }
        if anything {
            ranges.clear();
            for (object, o) in points_to.objects.iter() {
                if matches!(o.kind, ObjectKind::Global(_) | ObjectKind::Alloc(_)) {
                    ranges.push(Range { object, at: Shift::ANY, len: None, scalar: false });
                }
            }
        }
        ranges.dedup();
        let id = self.intern(ranges);
        self.by_key.insert(key, id);
        id
    }
}

/// Objects with more cells than this are one cell.
const MANY_CELLS: usize = 1024;
/// Residue classes are told apart up to this stride.
const LONG_STRIDE: u32 = 4096;

/// The cells of an object.
#[derive(Clone, Default, Debug)]
struct ObjectCells {
    /// Disjoint intervals `[from, to)`, ascending; the cell numbers follow `first`.
    intervals: Vec<(i64, i64)>,
    first: u32,
    /// With strided accesses: the modulus, and for each residue its class or `NO_CLASS`.
    stride: u32,
    class: Vec<u32>,
    classes: u32,
    /// Too many: everything is the one cell `first`.
    whole: bool,
}

const NO_CLASS: u32 = u32::MAX;

struct Cells {
    objects: Vec<ObjectCells>,
    count: u32,
    /// The object of each cell.
    object: Vec<ObjectId>,
}

impl Cells {
    fn new(points_to: &PointsTo, ranges: &Ranges) -> Self {
        let mut exact: Vec<Vec<(i64, i64)>> = vec![Vec::new(); points_to.objects.len()];
        let mut strided: Vec<Vec<(Shift, u32)>> = vec![Vec::new(); points_to.objects.len()];
        let mut touched = vec![false; points_to.objects.len()];
        for range in ranges.distinct.iter().flatten() {
            let o = range.object.index();
            touched[o] = true;
            if let (true, Some(len)) = (range.scalar, range.len) {
                match range.at.stride {
                    0 => exact[o].push((range.at.off, range.at.off + i64::from(len))),
                    _ => strided[o].push((range.at, len)),
                }
            }
        }
        let mut cells = Self { objects: Vec::new(), count: 0, object: Vec::new() };
        for ((object, mut exact), strided) in points_to.objects.ids().zip(exact).zip(strided) {
            let mut o = ObjectCells { first: cells.count, ..ObjectCells::default() };
            if touched[object.index()] {
                exact.sort_unstable();
                for (from, to) in exact {
                    match o.intervals.last_mut() {
                        Some(last) if from < last.1 => last.1 = last.1.max(to),
                        _ => o.intervals.push((from, to)),
                    }
                }
                o.classify(strided);
                if o.intervals.len() + o.classes as usize > MANY_CELLS {
                    o = ObjectCells { first: cells.count, whole: true, ..ObjectCells::default() };
                }
                // One more for the rest.
                let count = if o.whole { 1 } else { o.intervals.len() as u32 + o.classes + 1 };
                cells.count += count;
                cells.object.extend(std::iter::repeat_n(object, count as usize));
            }
            cells.objects.push(o);
        }
        cells
    }
    fn object_of(&self, cell: u32) -> ObjectId {
        self.object[cell as usize]
    }
    /// The cells that ranges touch, ascending.
    fn touched(&self, ranges: &[Range]) -> Vec<u32> {
        let mut found = Vec::new();
        for range in ranges {
            let o = &self.objects[range.object.index()];
            if o.whole {
                found.push(o.first);
                continue;
            }
            let classes = o.first + o.intervals.len() as u32;
            let rest = classes + o.classes;
            let known = range.len.filter(|_| range.scalar);
            match (range.at.stride, known) {
                (0, Some(len)) => {
                    let i = o.intervals.partition_point(|i| i.1 <= range.at.off);
                    debug_assert!(
                        o.intervals[i].0 <= range.at.off && range.at.off + i64::from(len) <= o.intervals[i].1
                    );
                    found.push(o.first + i as u32);
                }
                (_, Some(len)) => {
                    let slot = Slot::new(range.at, len);
                    for (i, &(from, to)) in o.intervals.iter().enumerate() {
                        let interval = Slot { at: Shift { off: from, stride: 0 }, width: (to - from) as u32 };
                        if slot.overlaps(&interval) {
                            found.push(o.first + i as u32);
                        }
                    }
                    for k in 0..i64::from(len).min(i64::from(o.stride)) {
                        let residue = (range.at.off + k).rem_euclid(i64::from(o.stride));
                        found.push(classes + o.class[residue as usize]);
                    }
                }
                (stride, None) => {
                    let (from, to) = match (stride, range.len) {
                        (0, Some(len)) => (range.at.off, range.at.off + i64::from(len)),
                        (0, None) => (range.at.off, i64::MAX),
                        _ => (i64::MIN, i64::MAX),
                    };
                    let first = o.intervals.partition_point(|i| i.1 <= from);
                    let last = o.intervals.partition_point(|i| i.0 < to);
                    found.extend((first..last).map(|i| o.first + i as u32));
                    found.extend(classes..=rest);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
    /// Whether a write to the range overwrites the whole cell.
    fn covered(&self, points_to: &PointsTo, cell: u32, range: &Range) -> bool {
        if self.object_of(cell) != range.object || range.at.stride != 0 {
            return false;
        }
        let size = points_to.objects[range.object].size;
        let to = match (range.len, size) {
            (Some(len), _) => range.at.off + i64::from(len),
            // Of unknown length: only an allocation is sure to reach the end.
            (None, _) => return range.scalar,
        };
        let o = &self.objects[range.object.index()];
        match o.intervals.get((cell - o.first) as usize) {
            Some(interval) if !o.whole => range.at.off <= interval.0 && interval.1 <= to,
            _ => range.at.off <= 0 && size.is_some_and(|size| to >= size as i64),
        }
    }
}

impl ObjectCells {
    /// The classes of residues that strided accesses form.
    fn classify(&mut self, strided: Vec<(Shift, u32)>) {
        let stride = strided.iter().fold(0, |g, s| gcd(g, s.0.stride));
        if stride == 0 {
            return;
        }
        let stride = if stride > LONG_STRIDE { 1 } else { stride };
        self.stride = stride;
        // Residues [off, off + len) belong together.
        let n = stride as usize;
        let mut parent: Vec<usize> = (0..n).collect();
        fn find(parent: &mut [usize], mut x: usize) -> usize {
            while parent[x] != x {
                parent[x] = parent[parent[x]];
                x = parent[x];
            }
            x
        }
        let mut used = vec![false; n];
        for (at, len) in strided {
            let start = at.off.rem_euclid(i64::from(stride)) as usize;
            for k in 0..(len as usize).min(n) {
                let residue = (start + k) % n;
                used[residue] = true;
                let (a, b) = (find(&mut parent, start), find(&mut parent, residue));
                parent[b] = a;
            }
        }
        self.class = vec![NO_CLASS; n];
        for (residue, &used) in used.iter().enumerate() {
            if used {
                let root = find(&mut parent, residue);
                if self.class[root] == NO_CLASS {
                    self.class[root] = self.classes;
                    self.classes += 1;
                }
                self.class[residue] = self.class[root];
            }
        }
    }
}

/// Partition refinement by hashing: cells with the same history of sets are together.
struct Partition {
    signature: Vec<(u64, u64)>,
    region: Vec<u32>,
    members: Vec<Vec<u32>>,
}

impl Partition {
    fn new(cells: u32) -> Self {
        Self { signature: vec![(0, 0); cells as usize], region: vec![u32::MAX; cells as usize], members: Vec::new() }
    }
    fn refine(&mut self, cells: &[u32], set: u64) {
        let mix = |h: u64, k: u64| {
            let mut x = h ^ set.wrapping_add(k).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ (x >> 31)
        };
        for &cell in cells {
            let s = &mut self.signature[cell as usize];
            *s = (mix(s.0, 1), mix(s.1, 0x1234_5678_9abc_def1));
        }
    }
    fn finish(&mut self) {
        let mut ids: FxHashMap<(u64, u64), u32> = FxHashMap::default();
        for (cell, signature) in self.signature.iter().enumerate() {
            if *signature == (0, 0) {
                continue;
            }
            let next = self.members.len() as u32;
            let id = *ids.entry(*signature).or_insert(next);
            if id == next {
                self.members.push(Vec::new());
            }
            self.members[id as usize].push(cell as u32);
            self.region[cell] = id;
        }
    }
    fn regions(&self, cells: &[u32]) -> Vec<RegionId> {
        let mut regions: Vec<_> = cells.iter().map(|&c| self.region[c as usize]).collect();
        regions.sort_unstable();
        regions.dedup();
        regions
    }
}

struct Sets {
    sets: Vec<Box<[RegionId]>>,
    ids: FxHashMap<Box<[RegionId]>, u32>,
}

impl Default for Sets {
    fn default() -> Self {
        let mut ids = FxHashMap::default();
        ids.insert(Box::default(), 0);
        Self { sets: vec![Box::default()], ids }
    }
}

impl Sets {
    fn intern(&mut self, set: Vec<RegionId>) -> u32 {
        let next = self.sets.len() as u32;
        *self.ids.entry(set.into()).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            next
        })
    }
}

/// Which abstract objects stand for one concrete object at a time.
struct Single<'a> {
    program: &'a Program,
    calls: &'a CallGraph,
    in_cycle: FxHashMap<EdgeId, bool>,
}

impl Single<'_> {
    fn is(&self, points_to: &PointsTo, object: ObjectId) -> bool {
        match points_to.objects[object].kind {
            ObjectKind::Global(_) => true,
            ObjectKind::Alloc(e) => self.frame(points_to, object).is_some() && !self.in_cycle[&e],
            _ => false,
        }
    }
    /// The function whose frame holds the object, if it has one frame at a time.
    fn frame(&self, points_to: &PointsTo, object: ObjectId) -> Option<FuncId> {
        let ObjectKind::Alloc(e) = points_to.objects[object].kind else { return None };
        let Op::Alloc { kind: AllocKind::Stack, .. } = self.program.edges[e].op else { return None };
        let f = self.program.func_of(e);
        (!self.calls.is_recursive(f)).then_some(f)
    }
}

/// For each allocation edge whether control can come back to it within its function.
fn alloc_cycles(program: &Program) -> FxHashMap<EdgeId, bool> {
    let components = crate::graph::Components::of(program.locs.len(), |l, k| {
        let edge = program.out_edges(cfa::LocId(l)).nth(k)?;
        Some(program.edges[edge].target.0)
    });
    let allocs = program.edges.iter().filter(|(_, e)| matches!(e.op, Op::Alloc { .. }));
    allocs
        .map(|(id, e)| (id, components.component[e.source.index()] == components.component[e.target.index()]))
        .collect()
}
