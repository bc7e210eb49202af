//! Which branches of a program one branch of the simplified program stands for: paths of the one in terms of the other.

use super::{locations, only_edge, simplified};
use cfa::{EdgeId, Id, LocId, Op, Out, Program};
use rustc_hash::{FxHashMap, FxHashSet};

/// A program with fewer forks, and what each of its branches stands for.
#[derive(Clone)]
pub struct Simplified {
    pub program: Program,
    pub joined: Joined,
}

impl std::fmt::Debug for Simplified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.joined.fmt(f)
    }
}

impl Simplified {
    /// `None` if a branch cannot be told in terms of the program.
    pub fn of(program: &Program) -> Option<Self> {
        let simplified = simplified(program);
        let joined = Joined::of(program, &simplified)?;
        Some(Self { program: simplified, joined })
    }
}

/// The branches of a program that became one, the first of them first: no execution comes to one of them twice before it leaves them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Region(pub Vec<Split>);

/// One of these branches: its sides, and where they lead.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Split {
    pub edges: [EdgeId; 2],
    pub to: [To; 2],
}

/// Where a side of a branch of a region leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum To {
    /// To another branch of the region.
    Split(usize),
    /// Out of it, to where this side of the one branch leads.
    Side(bool),
}

/// The regions of a simplified program.
#[derive(Clone, Default, Debug)]
pub struct Joined {
    /// The edges of the program that was simplified.
    own: usize,
    regions: Vec<Region>,
    /// By region, the two edges of the simplified program that stand for ways through it.
    branches: Vec<[EdgeId; 2]>,
    /// By such an edge: the region, and on which side they leave it.
    sides: FxHashMap<EdgeId, (usize, bool)>,
    /// By edge of a region.
    inside: FxHashMap<EdgeId, usize>,
    /// The edges that are as they were.
    kept: FxHashSet<EdgeId>,
}

impl Joined {
    fn of(program: &Program, simplified: &Program) -> Option<Self> {
        let own = program.edges.len();
        let mut this = Self { own, ..Self::default() };
        for func in simplified.funcs.ids().collect::<Vec<_>>() {
            let order = locations(simplified, func);
            let alive: FxHashSet<LocId> = order.iter().copied().collect();
            for loc in order {
                let Out::Branch { then_edge, else_edge } = simplified.locs[loc].out else {
                    this.kept.extend(simplified.out_edges(loc).filter(|e| e.index() < own));
                    continue;
                };
                if !this.is_new(then_edge) {
                    this.kept.extend([then_edge, else_edge]);
                    continue;
                }
                let ends = [then_edge, else_edge].map(|e| old(program, simplified, simplified.edges[e].target));
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

    /// Whether the program that was simplified does not have an edge.
    pub fn is_new(&self, edge: EdgeId) -> bool {
        edge.index() >= self.own
    }
    /// The region that an edge of the simplified program stands for ways through, and the side on which they leave it.
    pub fn side(&self, edge: EdgeId) -> Option<(usize, bool)> {
        self.sides.get(&edge).copied()
    }
    /// How many regions there are.
    pub fn len(&self) -> usize {
        self.regions.len()
    }
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty()
    }
    pub fn region(&self, number: usize) -> &Region {
        &self.regions[number]
    }
    /// The edges of the simplified program that stand for ways through a region, with their sides.
    pub(crate) fn sides(&self, region: usize) -> [(EdgeId, bool); 2] {
        let [yes, no] = self.branches[region];
        [(yes, true), (no, false)]
    }
    /// The region that an edge of the program is of.
    pub(crate) fn region_of(&self, edge: EdgeId) -> Option<usize> {
        self.inside.get(&edge).copied()
    }
    /// Whether an edge of the program is one of the simplified one.
    pub(crate) fn is_kept(&self, edge: EdgeId) -> bool {
        self.kept.contains(&edge)
    }
}

/// The location of the program that assignments which were put in lead to.
fn old(program: &Program, simplified: &Program, mut loc: LocId) -> Option<LocId> {
    while loc.index() >= program.locs.len() {
        loc = simplified.edges[only_edge(simplified, loc)?].target;
    }
    Some(loc)
}

/// The branches between a location and two others.
fn region(program: &Program, entry: LocId, ends: [LocId; 2], alive: &FxHashSet<LocId>) -> Option<Region> {
    if ends[0] == ends[1] {
        return None;
    }
    let mut numbers: FxHashMap<LocId, usize> = FxHashMap::from_iter([(entry, 0)]);
    let mut branches = vec![entry];
    let mut splits = Vec::new();
    while let Some(&loc) = branches.get(splits.len()) {
        let Out::Branch { then_edge, else_edge } = program.locs[loc].out else { return None };
        let mut to = [To::Split(0); 2];
        for (edge, to) in [then_edge, else_edge].into_iter().zip(&mut to) {
            let mut at = program.edges[edge].target;
            let mut passed = 0;
            *to = loop {
                if let Some(side) = ends.iter().position(|end| *end == at) {
                    break To::Side(side == 0);
                }
                if alive.contains(&at) || passed > program.locs.len() {
                    return None;
                }
                if let Out::Branch { .. } = program.locs[at].out {
                    break To::Split(*numbers.entry(at).or_insert_with(|| {
                        branches.push(at);
                        branches.len() - 1
                    }));
                }
                let next = only_edge(program, at)?;
                // Loads that are passed had become copies.
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
