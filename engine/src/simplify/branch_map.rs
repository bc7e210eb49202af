//! The mapping between the branches of a simplified program and those of the original, which translates paths.

use super::{locations, only_edge, simplified};
use cfa::{EdgeId, Id, LocId, Op, Out, Program};
use rustc_hash::{FxHashMap, FxHashSet};

/// A program with fewer forks, and the meaning of each of its branches in the original.
#[derive(Clone)]
pub struct Simplified {
    /// The simplified program.
    pub program: Program,
    /// The mapping of its branches to those of the original.
    pub branch_map: BranchMap,
}

impl std::fmt::Debug for Simplified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.branch_map.fmt(f)
    }
}

impl Simplified {
    /// Simplifies `program`. `None` if a branch cannot be mapped.
    pub fn new(program: &Program) -> Option<Self> {
        let simplified = simplified(program);
        let branch_map = BranchMap::new(program, &simplified)?;
        Some(Self { program: simplified, branch_map })
    }
}

/// Branches of the original program that one branch of the simplified program replaces. The first one is the entry. An
/// execution visits each at most once before it leaves the region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region(pub Vec<Split>);

/// A branch of a region, with the targets of its sides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    /// The then-edge and the else-edge.
    pub edges: [EdgeId; 2],
    /// The targets of these edges.
    pub to: [SideTarget; 2],
}

/// The target of a side of a branch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SideTarget {
    /// The index of another branch of the region.
    Split(usize),
    /// The target lies outside the region. It is the target of this side of the merged branch.
    Side(bool),
}

/// The mapping between the branches of a simplified program and those of the original.
#[derive(Clone, Default, Debug)]
pub struct BranchMap {
    /// Number of edges of the original program.
    original_edges: usize,
    regions: Vec<Region>,
    /// By region: the two edges of the merged branch in the simplified program.
    branches: Vec<[EdgeId; 2]>,
    /// By edge of a merged branch: its region and its side.
    sides: FxHashMap<EdgeId, (usize, bool)>,
    /// By edge of a region of the original program: the region.
    inside: FxHashMap<EdgeId, usize>,
    /// The edges that the simplified program has in common with the original.
    kept: FxHashSet<EdgeId>,
}

impl BranchMap {
    fn new(program: &Program, simplified: &Program) -> Option<Self> {
        let original_edges = program.edges.len();
        let mut this = Self { original_edges, ..Self::default() };
        for func in simplified.funcs.ids().collect::<Vec<_>>() {
            let order = locations(simplified, func);
            let alive: FxHashSet<LocId> = order.iter().copied().collect();
            for loc in order {
                let Out::Branch { then_edge, else_edge } = simplified.locs[loc].out else {
                    this.kept.extend(simplified.out_edges(loc).filter(|e| e.index() < original_edges));
                    continue;
                };
                if !this.is_new(then_edge) {
                    this.kept.extend([then_edge, else_edge]);
                    continue;
                }
                let ends =
                    [then_edge, else_edge].map(|e| original_location(program, simplified, simplified.edges[e].target));
                let region = region(program, loc, [ends[0]?, ends[1]?], &alive)?;
                let number = this.regions.len();
                this.sides.extend([(then_edge, (number, true)), (else_edge, (number, false))]);
                this.inside.extend(region.0.iter().flat_map(|split| split.edges).map(|e| (e, number)));
                this.regions.push(region);
                this.branches.push([then_edge, else_edge]);
            }
        }
        Some(this)
    }

    /// True if an edge of the simplified program is not an edge of the original one.
    pub fn is_new(&self, edge: EdgeId) -> bool {
        edge.index() >= self.original_edges
    }
    /// The region and side of an edge of a merged branch.
    pub fn side(&self, edge: EdgeId) -> Option<(usize, bool)> {
        self.sides.get(&edge).copied()
    }
    /// Number of regions.
    pub fn len(&self) -> usize {
        self.regions.len()
    }
    /// True if there are no regions.
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }
    /// The region with this number.
    pub fn region(&self, number: usize) -> &Region {
        &self.regions[number]
    }
    /// The edges of the merged branch of a region, with their sides.
    pub(crate) fn sides(&self, region: usize) -> [(EdgeId, bool); 2] {
        let [yes, no] = self.branches[region];
        [(yes, true), (no, false)]
    }
    /// The region that contains an edge of the original program.
    pub(crate) fn region_of(&self, edge: EdgeId) -> Option<usize> {
        self.inside.get(&edge).copied()
    }
    /// True if an edge of the original program is also in the simplified program.
    pub(crate) fn is_kept(&self, edge: EdgeId) -> bool {
        self.kept.contains(&edge)
    }
}

/// The first location of the original program on the path from `loc` over added assignments.
fn original_location(program: &Program, simplified: &Program, mut loc: LocId) -> Option<LocId> {
    while loc.index() >= program.locs.len() {
        loc = simplified.edges[only_edge(simplified, loc)?].target;
    }
    Some(loc)
}

/// The region between a location and the two ends.
fn region(program: &Program, entry: LocId, ends: [LocId; 2], alive: &FxHashSet<LocId>) -> Option<Region> {
    if ends[0] == ends[1] {
        return None;
    }
    let mut numbers: FxHashMap<LocId, usize> = FxHashMap::from_iter([(entry, 0)]);
    let mut branches = vec![entry];
    let mut splits = Vec::new();
    while let Some(&loc) = branches.get(splits.len()) {
        let Out::Branch { then_edge, else_edge } = program.locs[loc].out else { return None };
        let mut to = [SideTarget::Split(0); 2];
        for (edge, to) in [then_edge, else_edge].into_iter().zip(&mut to) {
            let mut at = program.edges[edge].target;
            let mut passed = 0;
            *to = loop {
                if let Some(side) = ends.iter().position(|end| *end == at) {
                    break SideTarget::Side(side == 0);
                }
                if alive.contains(&at) || passed > program.locs.len() {
                    return None;
                }
                if let Out::Branch { .. } = program.locs[at].out {
                    break SideTarget::Split(*numbers.entry(at).or_insert_with(|| {
                        branches.push(at);
                        branches.len() - 1
                    }));
                }
                let next = only_edge(program, at)?;
                // Simplification has replaced these loads by copies.
                if !matches!(program.edges[next].op, Op::Assign { .. } | Op::Skip | Op::Load { .. }) {
                    return None;
                }
                (at, passed) = (program.edges[next].target, passed + 1);
            };
        }
        splits.push(Split { edges: [then_edge, else_edge], to });
    }
    Some(Region(splits))
}
