//! What is left when a run ends.
//!
//! States that wait, and paths that could not be decided, are the frontier of an exploration: every execution that was not
//! explored goes through one of them, or through a place that a reason of the outcome names.

use crate::verdict::Reason;
use cfa::{EdgeId, LocId, Table};

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
}

impl Paths {
    pub fn add(&mut self, after: Option<PathId>, edges: &[EdgeId]) -> PathId {
        self.pieces.push(Piece { after, edges: edges.into() })
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

/// The frontier of one exploration.
#[derive(Clone, Default, Debug)]
pub struct Frontier {
    pub paths: Paths,
    pub open: Vec<Open>,
    /// The edges to each state that was not followed because another one covers it, where they are kept and paths are not merged:
    /// what follows is explored as far as what follows the other one is.
    pub covered: Vec<Option<PathId>>,
    /// Why the exploration would not go on if it had time: then more may be left than is told here.
    pub given_up: Option<Reason>,
}
