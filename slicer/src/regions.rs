//! Partitions memory into regions: every access of the program touches all of a region or none of it.
//!
//! Objects that the same pointers point to form a class. The bytes of a class are divided into cells. Cells that the
//! same accesses touch form a region. So there are only as many regions as the program distinguishes.

mod cells;
mod objects;
mod partition;

use crate::call_graph::CallGraph;
use crate::pointer::{Extent, ObjectId, Places, PointsTo, Shift};
use cells::Cells;
use cfa::{Edge, EdgeId, ExprId, FuncId, Id, Op, Program};
use objects::{Accessed, Classes, Key, Range, Single};
use partition::{Partition, Sets};
use rustc_hash::FxHashMap;

/// A region of memory. Ids are dense from 0.
pub type RegionId = u32;

/// The regions that a memory operation touches, as numbers of sets.
#[derive(Clone, Copy, Default, Debug)]
pub struct Access {
    reads: u32,
    writes: u32,
    /// The written regions of which no old content remains.
    kills: u32,
}

/// The regions of a program and the accesses of its edges.
pub struct Regions {
    accesses: FxHashMap<EdgeId, Access>,
    /// The distinct sets of regions. The first is empty.
    sets: Vec<Box<[RegionId]>>,
    /// The number of regions.
    pub count: u32,
    /// The function whose frames contain the whole region; `None` if there is no such function or if it is recursive.
    pub owner: Vec<Option<FuncId>>,
    /// The objects with bytes in each region, ascending.
    pub objects: Vec<Box<[ObjectId]>>,
    /// By object, the number of the set of its regions.
    of_object: Vec<u32>,
}

impl Regions {
    /// The regions that the edge may read, ascending.
    pub fn reads(&self, edge: EdgeId) -> &[RegionId] {
        self.set(edge, |a| a.reads)
    }
    /// The regions that the edge may write, ascending.
    pub fn writes(&self, edge: EdgeId) -> &[RegionId] {
        self.set(edge, |a| a.writes)
    }
    /// The regions that the edge overwrites completely, ascending.
    pub fn kills(&self, edge: EdgeId) -> &[RegionId] {
        self.set(edge, |a| a.kills)
    }
    /// The numbers of the sets that an edge reads and writes. Many edges share a set. Number 0 is the empty set.
    pub fn set_numbers(&self, edge: EdgeId) -> (u32, u32) {
        self.accesses.get(&edge).map_or((0, 0), |a| (a.reads, a.writes))
    }
    /// The regions of the set with this number, ascending.
    pub fn set_of(&self, number: u32) -> &[RegionId] {
        &self.sets[number as usize]
    }
    /// The regions with bytes of the object, ascending.
    pub fn of_object(&self, object: ObjectId) -> &[RegionId] {
        &self.sets[self.of_object[object.index()] as usize]
    }
    fn set(&self, edge: EdgeId, which: impl Fn(&Access) -> u32) -> &[RegionId] {
        self.accesses.get(&edge).map_or(&[], |a| &self.sets[which(a) as usize])
    }

    /// Computes the regions of the operations in `edges`, the edges that can be executed.
    pub fn compute(
        program: &Program,
        points_to: &mut PointsTo,
        calls: &CallGraph,
        edges: impl Iterator<Item = EdgeId>,
    ) -> Self {
        let single = Single::new(program, calls);
        let has = |is_one: fn(&Edge) -> bool| program.edges.values().any(is_one);
        let mut accesses = Accesses { watched: has(|e| e.fault.is_some()), ..Accesses::default() };
        let (leaks, has_shadows) = (has(|e| matches!(e.op, Op::Leak(_))), has(|e| matches!(e.op, Op::Shadow(_))));
        let operations: Vec<(EdgeId, What)> =
            edges.filter_map(|id| Some((id, accesses.access(program, points_to, id)?))).collect();
        let classes = Classes::new(points_to, &single, &accesses.keys);
        // The ranges of each access and of each allocation.
        let mut ranges = Distinct::default();
        let of_key: Vec<u32> = accesses.keys.iter().map(|key| ranges.intern(classes.ranges(key))).collect();
        let raw: Vec<(EdgeId, u32, u32)> = operations
            .into_iter()
            .map(|(id, what)| match what {
                What::Access { reads, writes } => {
                    let mut of = |keys: [Option<u32>; 3]| match keys {
                        [key, None, None] => key.map_or(0, |key| of_key[key as usize]),
                        keys => {
                            let all = keys.into_iter().flatten().map(|key| of_key[key as usize] as usize);
                            let mut all: Vec<Range> = all.flat_map(|set| ranges.ranges[set].clone()).collect();
                            all.sort_unstable();
                            all.dedup();
                            ranges.intern(all)
                        }
                    };
                    (id, of(reads), of(writes))
                }
                What::Alloc => {
                    let mut made: Vec<_> = points_to.allocs(id).iter().filter_map(|&o| classes.class(o)).collect();
                    made.sort_unstable();
                    made.dedup();
                    let whole = |&class: &u32| Range { class, at: Shift::ZERO, len: None, scalar: true };
                    let mut all: Vec<Range> = made.iter().map(whole).collect();
                    if has_shadows {
                        all.extend(made.iter().map(|&class| whole(&classes.shadow(class))));
                    }
                    if leaks {
                        all.extend(made.iter().map(|&class| classes.life(class)));
                    }
                    (id, 0, ranges.intern(all))
                }
            })
            .collect();
        let cells = Cells::new(&classes, &ranges.ranges);
        let mut partition = Partition::new(cells.count);
        let cell_sets: Vec<Vec<u32>> = ranges.ranges.iter().map(|r| cells.touched(r)).collect();
        for (id, set) in cell_sets.iter().enumerate() {
            partition.refine(set, id as u64);
        }
        partition.finish();
        let mut sets = Sets::default();
        let mut regions_of = |set: &Vec<u32>, range: &Vec<Range>| {
            let regions = partition.regions(set);
            let covers = |range: &Range| matches!(classes.members(range.class), &[o] if single.is(points_to, o));
            let killed = match range[..] {
                [range] if covers(&range) => regions
                    .iter()
                    .copied()
                    .filter(|&r| partition.members[r as usize].iter().all(|&c| cells.covered(&classes, c, &range)))
                    .collect(),
                _ => Vec::new(),
            };
            (sets.intern(regions), sets.intern(killed))
        };
        // The regions of each set of ranges, and the regions that the ranges cover.
        let of_ranges: Vec<(u32, u32)> = cell_sets.iter().zip(&ranges.ranges).map(|(s, r)| regions_of(s, r)).collect();
        let accesses = raw
            .into_iter()
            .map(|(id, read, write)| {
                let (writes, kills) = of_ranges[write as usize];
                (id, Access { reads: of_ranges[read as usize].0, writes, kills })
            })
            .collect();
        let objects = objects_of(&partition, &cells, &classes);
        let owner = objects
            .iter()
            .map(|objects| {
                let mut owners = objects.iter().map(|&o| single.frame(points_to, o));
                let first = owners.next()??;
                owners.all(|o| o == Some(first)).then_some(first)
            })
            .collect();
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

/// The objects with bytes in each region, ascending.
fn objects_of(partition: &Partition, cells: &Cells, classes: &Classes) -> Vec<Vec<ObjectId>> {
    let of_region = |members: &Vec<u32>| {
        let mut in_region: Vec<_> = members.iter().map(|&c| cells.class_of(c)).collect();
        in_region.dedup();
        let mut all: Vec<_> = in_region.into_iter().flat_map(|c| classes.members(c)).copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    partition.members.iter().map(of_region).collect()
}

/// The memory accesses of an operation, as numbers of distinct accesses.
enum What {
    Access {
        reads: [Option<u32>; 3],
        writes: [Option<u32>; 3],
    },
    /// The operation allocates an object.
    Alloc,
}

/// The distinct accesses of a program.
#[derive(Default)]
struct Accesses {
    /// True if some check for memory faults is enabled, so the allocation states of objects matter.
    watched: bool,
    keys: Vec<Key>,
    ids: FxHashMap<Key, u32>,
}

impl Accesses {
    fn access(&mut self, program: &Program, points_to: &mut PointsTo, id: EdgeId) -> Option<What> {
        let bytes = |bits: u32| Some(bits.div_ceil(8));
        let constant = |e: ExprId| program.exprs.as_const(e)?.to_u64().and_then(|l| u32::try_from(l).ok());
        let watched = self.watched;
        let what = match program.edges[id].op {
            Op::Shadow(_) => Accessed::Shadow,
            _ => Accessed::Content,
        };
        let mut access = |e, len, scalar| Some(self.intern(Key { places: points_to.places(e), len, scalar, what }));
        let (read, write) = match *program.edges[id].op.unshadowed() {
            Op::Load { var, addr } => (access(addr, bytes(program.vars[var].width), true), None),
            Op::Store { addr, value } => (None, access(addr, bytes(program.exprs.width(value)), true)),
            Op::Copy { dst, src, len } => (access(src, constant(len), false), access(dst, constant(len), false)),
            Op::Fill { dst, len, .. } => (None, access(dst, constant(len), false)),
            // The result depends on the allocation state, which `Free` changes.
            Op::ObjectOffset { ptr, .. } => (access(ptr, None, false), None),
            // Reads of a freed object do not return what was written before, so `Free` overwrites the content.
            Op::Free { ptr, .. } => (None, access(ptr, None, false)),
            Op::ObjectSize { .. } | Op::Leak(_) if watched => (None, None),
            Op::Alloc { .. } => return Some(What::Alloc),
            Op::Approx { .. } => {
                let (known, policy) = points_to.external_access(id)?;
                let key = || Key { places: vec![(known, Shift::ANY)], len: None, scalar: false, what };
                let read = (policy.reads != Extent::Nothing).then(|| self.intern(key()));
                (read, (policy.writes != Extent::Nothing).then(|| self.intern(key())))
            }
            _ => return None,
        };
        let (mut reads, mut writes) = ([read, None, None], [write, None, None]);
        if watched {
            if let (Op::Leak(_), Some(_)) = (&program.edges[id].op, program.edges[id].fault) {
                let places = points_to.heap().map(|o| (Places::Object(o), Shift::ZERO)).collect();
                reads[1] = Some(self.intern(Key { places, len: None, scalar: false, what: Accessed::Life }));
            }
            let mut life = |e| {
                Some(self.intern(Key { places: points_to.places(e), len: None, scalar: false, what: Accessed::Life }))
            };
            let edge = &program.edges[id];
            match edge.op {
                Op::Free { ptr, .. } => writes[1] = life(ptr),
                _ if edge.fault.is_none() => {}
                Op::Copy { dst, src, .. } => (reads[1], reads[2]) = (life(dst), life(src)),
                Op::Load { addr: e, .. }
                | Op::Store { addr: e, .. }
                | Op::Fill { dst: e, .. }
                | Op::ObjectSize { ptr: e, .. } => reads[1] = life(e),
                _ => {}
            }
            if let (Op::Free { ptr, .. }, Some(_)) = (&edge.op, edge.fault) {
                reads[1] = life(*ptr);
            }
        }
        Some(What::Access { reads, writes })
    }
    fn intern(&mut self, key: Key) -> u32 {
        let next = self.keys.len() as u32;
        *self.ids.entry(key).or_insert_with_key(|key| {
            self.keys.push(key.clone());
            next
        })
    }
}

/// Distinct lists of ranges. The first is empty.
struct Distinct {
    ranges: Vec<Vec<Range>>,
    ids: FxHashMap<Vec<Range>, u32>,
}

impl Default for Distinct {
    fn default() -> Self {
        let mut ids = FxHashMap::default();
        ids.insert(Vec::new(), 0);
        Self { ranges: vec![Vec::new()], ids }
    }
}

impl Distinct {
    fn intern(&mut self, ranges: Vec<Range>) -> u32 {
        let next = self.ranges.len() as u32;
        *self.ids.entry(ranges).or_insert_with_key(|ranges| {
            self.ranges.push(ranges.clone());
            next
        })
    }
}
