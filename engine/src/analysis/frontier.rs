//! What is left when a run ends.
//!
//! States that wait, paths that could not be decided, and states behind which something was left out are the frontier of an
//! exploration: every execution that was not explored goes through one of them, or, where it is not known which state it was
//! ([`Frontier::tells_all`]), through a place that a reason of the outcome names.

use crate::verdict::Reason;
use cfa::{EdgeId, Id, LocId, Table};
use rustc_hash::FxHashMap;

cfa::id_type!(
    /// A path among [`Paths`].
    PathId, "p"
);

/// Paths that share their beginnings.
#[derive(Clone, Default, Debug)]
pub struct Paths {
    pieces: Table<PathId, Piece>,
}

/// The path that goes on from another with these edges.
#[derive(Clone, Debug)]
pub struct Piece {
    pub after: Option<PathId>,
    pub edges: Box<[EdgeId]>,
    /// Where paths are merged, there are no edges, but all ways to this head that pass no other.
    pub head: Option<LocId>,
}

impl Paths {
    pub fn add(&mut self, after: Option<PathId>, edges: &[EdgeId]) -> PathId {
        self.pieces.push(Piece { after, edges: edges.into(), head: None })
    }
    /// All ways that lead from the end of a path to a head, and pass no other head.
    pub fn add_block(&mut self, after: Option<PathId>, head: LocId) -> PathId {
        self.pieces.push(Piece { after, edges: Box::default(), head: Some(head) })
    }
    /// The edges of a path, from the start.
    pub fn edges(&self, path: PathId) -> Vec<EdgeId> {
        let mut pieces = vec![&self.pieces[path]];
        while let Some(before) = pieces[pieces.len() - 1].after {
            pieces.push(&self.pieces[before]);
        }
        pieces.iter().rev().flat_map(|piece| piece.edges.iter().copied()).collect()
    }
    /// Each behind the one that it goes on from.
    pub fn pieces(&self) -> &Table<PathId, Piece> {
        &self.pieces
    }
}

/// A place where an exploration has not gone on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Open {
    pub loc: LocId,
    /// The calls that are not over, outermost first.
    pub calls: Vec<EdgeId>,
    /// The edges from the start, where they are kept and paths are not merged.
    pub path: Option<PathId>,
    /// Why it was not gone on, if not for want of time.
    pub reason: Option<Reason>,
}

/// A state that was not followed because another one stands for all it can do: what follows is explored as far as what follows the
/// other one is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Covered {
    /// The edges to it, where they are kept and paths are not merged.
    pub path: Option<PathId>,
    /// Those to the other one, where it is known; the paths of all that follows that go on from this one.
    pub by: Option<PathId>,
}

/// The frontier of one exploration.
#[derive(Clone, Default, Debug)]
pub struct Frontier {
    pub paths: Paths,
    pub open: Vec<Open>,
    /// States that were not followed because others cover them.
    pub covered: Vec<Covered>,
    /// Paths to states that may cover more: who goes on may go there again to have them.
    pub covering: Vec<PathId>,
    /// Where paths are merged, the locations between which they are; else empty.
    pub heads: Vec<bool>,
    /// Whether states stand for nothing but what the paths to them lead to.
    pub is_exact: bool,
    /// Whether all that was left out is behind what is open: a taint is known by the node that it cut.
    pub tells_all: bool,
    /// All executions were explored in which each loop has so many iterations at most whenever it is entered, and so many calls of a function are
    /// nested at most; of others nothing is told. Then there are no paths.
    pub iterations: Option<u32>,
    /// Why the exploration would not go on if it had time: then more may be left than is told here.
    pub given_up: Option<Reason>,
}

/// A path behind which something is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct End {
    pub path: PathId,
    /// All that follows is what follows the end of another path, and what is left of it is left behind ends that do not say so.
    pub is_elsewhere: bool,
}

/// What is left of an exploration.
pub struct Left {
    /// Paths behind which something is left.
    pub ends: Vec<End>,
    /// By path: whether it is one of them, or a beginning of one.
    pub leads_there: Vec<bool>,
}

impl Frontier {
    /// The paths behind which something is left; `None` if they are not known.
    ///
    /// A covered state is done if nothing is left behind the state that covers it: no state that waits, and no covered state that is not
    /// done. States may cover one another in circles (a loop that comes back to its own head): take an execution from a state
    /// that is done to an error, as short as there is one. It leaves what was explored in a covered state that is done, and goes on
    /// from there as an execution of the covering state, which is shorter, as what covers was followed over one edge at least. So the greatest solution is
    /// right, as it is when an exploration with covered states ends and is a proof.
    ///
    /// A covered state that is not done need not be looked at either by somebody who looks at all other ends, for the same reason; but only if
    /// the covering state stands for no more than its path leads to: what else it stands for, nobody will come to on that path.
    ///
    /// Where paths were left out that are verified only with the rest (`counts_on_rest`), so is what a state covers that may lead to them.
    pub fn left(&self, counts_on_rest: bool) -> Option<Left> {
        let mut covering: FxHashMap<PathId, Vec<PathId>> = FxHashMap::default();
        let end = |path| End { path, is_elsewhere: false };
        let mut todo: Vec<End> = self.open.iter().map(|open| open.path.map(end)).collect::<Option<_>>()?;
        for covered in &self.covered {
            match covered.by {
                Some(_) if counts_on_rest => todo.push(End { path: covered.path?, is_elsewhere: self.is_exact }),
                Some(by) => covering.entry(by).or_default().push(covered.path?),
                None => todo.push(end(covered.path?)),
            }
        }
        let mut left = Left { ends: Vec::new(), leads_there: vec![false; self.paths.pieces.len()] };
        while let Some(end) = todo.pop() {
            left.ends.push(end);
            let mut at = Some(end.path);
            while let Some(path) = at.filter(|p| !left.leads_there[p.index()]) {
                left.leads_there[path.index()] = true;
                let covered = covering.remove(&path).into_iter().flatten();
                todo.extend(covered.map(|path| End { path, is_elsewhere: self.is_exact }));
                at = self.paths.pieces[path].after;
            }
        }
        Some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of paths, each with the number of the one that it goes on from: which of them something is left behind.
    fn ends(tree: &[Option<u32>], open: &[u32], covered: &[(u32, Option<u32>)]) -> Vec<u32> {
        let mut frontier = Frontier::default();
        for after in tree {
            frontier.paths.add(after.map(PathId), &[EdgeId(0)]);
        }
        let waits = |&p: &u32| Open { loc: LocId(0), calls: Vec::new(), path: Some(PathId(p)), reason: None };
        frontier.open = open.iter().map(waits).collect();
        let covers = |&(path, by): &(u32, Option<u32>)| Covered { path: Some(PathId(path)), by: by.map(PathId) };
        frontier.covered = covered.iter().map(covers).collect();
        let mut ends: Vec<u32> = frontier.left(false).unwrap().ends.iter().map(|end| end.path.0).collect();
        ends.sort_unstable();
        ends
    }

    #[test]
    fn a_covered_state_is_done_if_what_covers_it_is() {
        // 0 with children 1 and 2; 3 below 1; 4 and 5 below 2.
        let tree = [None, Some(0), Some(0), Some(1), Some(2), Some(2)];
        // 4 comes back to 2, and 5 to 1, below which 3 waits or does not.
        assert_eq!(ends(&tree, &[3], &[(4, Some(2)), (5, Some(1))]), [3, 4, 5]);
        assert_eq!(ends(&tree, &[3], &[(4, Some(2))]), [3]);
        assert_eq!(ends(&tree, &[], &[(3, Some(2)), (4, Some(2)), (5, Some(1))]), []);
        // Nobody knows what covers 3, and 5 counts on what is above it.
        assert_eq!(ends(&tree, &[], &[(3, None), (4, Some(2)), (5, Some(1))]), [3, 4, 5]);
        // In a circle with one way out.
        assert_eq!(ends(&tree, &[4], &[(3, Some(2)), (5, Some(1))]), [3, 4, 5]);
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        let mut frontier = Frontier::default();
        let path = frontier.paths.add(None, &[]);
        frontier.covered = vec![Covered { path: None, by: Some(path) }];
        assert!(frontier.left(false).is_none());
    }
}
