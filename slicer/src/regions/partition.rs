//! Groups cells that the same accesses touch.

use super::RegionId;
use rustc_hash::FxHashMap;

/// Partition refinement by hashing: cells in the same sets of cells have equal signatures.
pub struct Partition {
    signature: Vec<(u64, u64)>,
    region: Vec<u32>,
    /// The cells of each region.
    pub members: Vec<Vec<u32>>,
}

impl Partition {
    /// A partition in which all cells are unmarked.
    pub fn new(cells: u32) -> Self {
        Self { signature: vec![(0, 0); cells as usize], region: vec![u32::MAX; cells as usize], members: Vec::new() }
    }
    /// Separates `cells` from all other cells. `set` identifies the set of cells.
    pub fn refine(&mut self, cells: &[u32], set: u64) {
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
    /// Numbers the regions. Cells that no set contained get none.
    pub fn finish(&mut self) {
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
    /// The regions of these cells, ascending.
    pub fn regions(&self, cells: &[u32]) -> Vec<RegionId> {
        let mut regions: Vec<_> = cells.iter().map(|&c| self.region[c as usize]).collect();
        regions.sort_unstable();
        regions.dedup();
        regions
    }
}

/// Distinct sets of regions. The first is empty.
pub struct Sets {
    /// The sets by number.
    pub sets: Vec<Box<[RegionId]>>,
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
    /// The number of the set.
    pub fn intern(&mut self, set: Vec<RegionId>) -> u32 {
        let next = self.sets.len() as u32;
        *self.ids.entry(set.into()).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            next
        })
    }
}
