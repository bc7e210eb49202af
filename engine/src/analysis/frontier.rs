//! The frontier of an exploration: the residual when a run ends.
//!
//! The frontier consists of waiting states, undecided paths, and states after which behaviours were dropped. Every
//! unexplored execution passes one of these states. If the dropping state is unknown (see [`Frontier::is_complete`]), the
//! execution passes a place that a reason of the outcome names.

use crate::verdict::Reason;
use cfa::{EdgeId, Id, LocId, Table};
use rustc_hash::FxHashMap;

cfa::id_type!(
    /// A path among [`Paths`].
    PathId, "p"
);

/// A set of paths that share prefixes, as a tree.
#[derive(Clone, Default, Debug)]
pub struct Paths {
    pieces: Table<PathId, Piece>,
}

/// A node of the tree: the continuation of a path by some edges.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The path that this one continues, or `None` at the start.
    pub after: Option<PathId>,
    /// The edges of the continuation.
    pub edges: Box<[EdgeId]>,
    /// If paths are merged, the cut point at which the block ends. The piece then represents all paths to it that pass
    /// no other cut point, and `edges` is empty.
    pub head: Option<LocId>,
}

impl Paths {
    /// Adds the continuation of a path by some edges.
    pub fn add(&mut self, after: Option<PathId>, edges: &[EdgeId]) -> PathId {
        self.pieces.push(Piece { after, edges: edges.into(), head: None })
    }
    /// Adds the block from the end of a path to a cut point: all paths that pass no other cut point.
    pub fn add_block(&mut self, after: Option<PathId>, head: LocId) -> PathId {
        self.pieces.push(Piece { after, edges: Box::default(), head: Some(head) })
    }
    /// The edges of a path from the start.
    pub fn edges(&self, path: PathId) -> Vec<EdgeId> {
        let mut pieces = vec![&self.pieces[path]];
        while let Some(before) = pieces[pieces.len() - 1].after {
            pieces.push(&self.pieces[before]);
        }
        pieces.iter().rev().flat_map(|piece| piece.edges.iter().copied()).collect()
    }
    /// All pieces. Each follows the piece that it continues.
    pub fn pieces(&self) -> &Table<PathId, Piece> {
        &self.pieces
    }
}

/// A state at which an exploration stopped.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Open {
    /// The location of the state.
    pub loc: LocId,
    /// The calls on the stack, outermost first.
    pub calls: Vec<EdgeId>,
    /// The path to the state, if paths are recorded and not merged.
    pub path: Option<PathId>,
    /// The reason for stopping, unless the budget was spent.
    pub reason: Option<Reason>,
}

/// A covered state. Its continuations are explored as far as those of the covering state are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Covered {
    /// The path to the covered state, if paths are recorded and not merged.
    pub path: Option<PathId>,
    /// The path to the covering state, if known. The paths of its successors continue this one.
    pub by: Option<PathId>,
}

/// The frontier of one exploration.
#[derive(Clone, Default, Debug)]
pub struct Frontier {
    /// The tree of paths that the other fields refer to.
    pub paths: Paths,
    /// The states at which the exploration stopped.
    pub open: Vec<Open>,
    /// The covered states.
    pub covered: Vec<Covered>,
    /// Paths to states that may cover further states. A continued exploration may visit them again to regain their
    /// coverage.
    pub covering: Vec<PathId>,
    /// If paths are merged, true for the locations that are cut points; else empty.
    pub heads: Vec<bool>,
    /// True if every state represents only executions of the path to it.
    pub is_exact: bool,
    /// True if every dropped behaviour continues a state in `open`: the node where it was dropped is known.
    pub is_complete: bool,
    /// For bounded explorations: the bound on iterations of each loop per entry, and on nested calls of each function.
    /// All executions within the bound were explored; nothing is known of the others. There are then no paths.
    pub iterations: Option<u32>,
    /// The reason why the exploration would stop even with more time. The residual may then be larger than the
    /// frontier.
    pub given_up: Option<Reason>,
}

/// A path with an unexplored continuation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OpenPath {
    /// The path.
    pub path: PathId,
    /// True if all continuations are continuations of another, covering, path. The unexplored part of those is
    /// represented by other ends.
    pub is_elsewhere: bool,
}

/// The unexplored part of an exploration.
pub struct Unexplored {
    /// Paths with unexplored continuations.
    pub ends: Vec<OpenPath>,
    /// By path: true if it is a prefix of a path in `ends`.
    pub leads_there: Vec<bool>,
}

impl Frontier {
    /// The paths with unexplored continuations; `None` if they are unknown.
    ///
    /// A covered state is done if no waiting state and no undone covered state is below its covering state. Coverage
    /// may be cyclic (a loop that returns to its own head), and the greatest fixed point is sound. To see this, take a
    /// shortest execution from a done state to an error. It leaves the explored part in a covered state that is done,
    /// and continues as an execution of the covering state. The latter is shorter, since the covering state was
    /// explored over at least one edge. A complete exploration with covered states is a proof for the same reason.
    ///
    /// An analysis of all other ends need not analyse the end of a covered state that is not done, for the same reason.
    /// This requires that the covering state represents only executions of its path (`is_exact`); an analysis of that
    /// path would not reach the others.
    ///
    /// If paths were left out that are verified only with the rest (`counts_on_rest`), a state that may lead to them
    /// does not make the states that it covers done.
    pub fn left(&self, counts_on_rest: bool) -> Option<Unexplored> {
        let mut covering: FxHashMap<PathId, Vec<PathId>> = FxHashMap::default();
        let end = |path| OpenPath { path, is_elsewhere: false };
        let mut todo: Vec<OpenPath> = self.open.iter().map(|open| open.path.map(end)).collect::<Option<_>>()?;
        for covered in &self.covered {
            match covered.by {
                Some(_) if counts_on_rest => todo.push(OpenPath { path: covered.path?, is_elsewhere: self.is_exact }),
                Some(by) => covering.entry(by).or_default().push(covered.path?),
                None => todo.push(end(covered.path?)),
            }
        }
        let mut left = Unexplored { ends: Vec::new(), leads_there: vec![false; self.paths.pieces.len()] };
        while let Some(end) = todo.pop() {
            left.ends.push(end);
            let mut at = Some(end.path);
            while let Some(path) = at.filter(|p| !left.leads_there[p.index()]) {
                left.leads_there[path.index()] = true;
                let covered = covering.remove(&path).into_iter().flatten();
                todo.extend(covered.map(|path| OpenPath { path, is_elsewhere: self.is_exact }));
                at = self.paths.pieces[path].after;
            }
        }
        Some(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a frontier from a tree of parents, and returns the paths with unexplored continuations.
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
        // 0 has the children 1 and 2; 1 has the child 3; 2 has the children 4 and 5.
        let tree = [None, Some(0), Some(0), Some(1), Some(2), Some(2)];
        // 2 covers 4, and 1 covers 5. In the first case, 3 waits below 1.
        assert_eq!(ends(&tree, &[3], &[(4, Some(2)), (5, Some(1))]), [3, 4, 5]);
        assert_eq!(ends(&tree, &[3], &[(4, Some(2))]), [3]);
        assert_eq!(ends(&tree, &[], &[(3, Some(2)), (4, Some(2)), (5, Some(1))]), []);
        // The state that covers 3 is unknown, and 5 depends on 1, which is above 3.
        assert_eq!(ends(&tree, &[], &[(3, None), (4, Some(2)), (5, Some(1))]), [3, 4, 5]);
        // A cycle of coverings with one unexplored state.
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
