//! Divides the bytes of objects into cells: disjoint intervals from scalar accesses at known offsets, residue classes
//! from accesses at strided offsets, and the remaining bytes.

use super::objects::{ClassId, Classes, Range};
use crate::pointer::{Shift, Slot, gcd};

/// A class with more cells gets a single cell.
const MANY_CELLS: usize = 1024;
/// The largest stride for which residue classes are distinguished.
const LONG_STRIDE: u32 = 4096;

/// The cells of a class of objects.
#[derive(Clone, Default, Debug)]
struct ClassCells {
    /// Disjoint intervals `[from, to)`, ascending. Their cells are numbered from `first` on.
    intervals: Vec<(i64, i64)>,
    first: u32,
    /// The modulus of strided accesses, or 0.
    stride: u32,
    /// For each residue, its residue class or `NO_CLASS`.
    class: Vec<u32>,
    classes: u32,
    /// True if there are too many cells: `first` is the only one.
    whole: bool,
}

/// In place of a number: the residue has no class.
const NO_CLASS: u32 = u32::MAX;

/// The cells of all classes of objects.
pub struct Cells {
    classes: Vec<ClassCells>,
    /// The number of cells.
    pub count: u32,
    /// The class of objects of each cell.
    class: Vec<ClassId>,
}

impl Cells {
    /// The cells that the ranges of all accesses form.
    pub fn new(classes: &Classes, ranges: &[Vec<Range>]) -> Self {
        let mut exact: Vec<Vec<(i64, i64)>> = vec![Vec::new(); classes.len()];
        let mut strided: Vec<Vec<(Shift, u32)>> = vec![Vec::new(); classes.len()];
        let mut touched = vec![false; classes.len()];
        for range in ranges.iter().flatten() {
            let c = range.class as usize;
            touched[c] = true;
            if let (true, Some(len)) = (range.scalar, range.len) {
                match range.at.stride {
                    0 => exact[c].push((range.at.off, range.at.off + i64::from(len))),
                    _ => strided[c].push((range.at, len)),
                }
            }
        }
        let mut cells = Self { classes: Vec::new(), count: 0, class: Vec::new() };
        for ((class, mut exact), strided) in (0..classes.len() as ClassId).zip(exact).zip(strided) {
            let mut o = ClassCells { first: cells.count, ..ClassCells::default() };
            if touched[class as usize] {
                exact.sort_unstable();
                for (from, to) in exact {
                    match o.intervals.last_mut() {
                        Some(last) if from < last.1 => last.1 = last.1.max(to),
                        _ => o.intervals.push((from, to)),
                    }
                }
                o.classify(strided);
                if o.intervals.len() + o.classes as usize > MANY_CELLS {
                    o = ClassCells { first: cells.count, whole: true, ..ClassCells::default() };
                }
                // One more cell for the remaining bytes.
                let count = if o.whole { 1 } else { o.intervals.len() as u32 + o.classes + 1 };
                cells.count += count;
                cells.class.extend(std::iter::repeat_n(class, count as usize));
            }
            cells.classes.push(o);
        }
        cells
    }
    /// The class of objects of the cell.
    pub fn class_of(&self, cell: u32) -> ClassId {
        self.class[cell as usize]
    }
    /// The cells that the ranges touch, ascending.
    pub fn touched(&self, ranges: &[Range]) -> Vec<u32> {
        let mut found = Vec::new();
        for range in ranges {
            let o = &self.classes[range.class as usize];
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
    /// True if a write to the range overwrites the whole cell.
    pub fn covered(&self, classes: &Classes, cell: u32, range: &Range) -> bool {
        if self.class_of(cell) != range.class || range.at.stride != 0 {
            return false;
        }
        let size = classes.size(range.class);
        let to = match (range.len, size) {
            (Some(len), _) => range.at.off + i64::from(len),
            // If the length is unknown, only an allocation certainly reaches the end.
            (None, _) => return range.scalar,
        };
        let o = &self.classes[range.class as usize];
        match o.intervals.get((cell - o.first) as usize) {
            Some(interval) if !o.whole => range.at.off <= interval.0 && interval.1 <= to,
            _ => range.at.off <= 0 && size.is_some_and(|size| to >= size as i64),
        }
    }
}

impl ClassCells {
    /// Computes the residue classes of strided accesses.
    fn classify(&mut self, strided: Vec<(Shift, u32)>) {
        let stride = strided.iter().fold(0, |g, s| gcd(g, s.0.stride));
        if stride == 0 {
            return;
        }
        let stride = if stride > LONG_STRIDE { 1 } else { stride };
        self.stride = stride;
        // The residues `[off, off + len)` belong to one class.
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
