//! The transfer relations of range reduction (section 3.2 of the paper).

use cfa::{EdgeId, Op, Program};

/// A side of a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The lower bound.
    Lower,
    /// The upper bound.
    Upper,
}

/// The indicator function `B_P` of an edge. True precedes false.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Branch {
    /// The edge of a branch whose condition is true.
    True,
    /// The edge of a branch whose condition is false.
    False,
    /// An edge that is no branch.
    None,
}

impl Branch {
    /// The indicator of an edge.
    pub fn from_edge(program: &Program, edge: EdgeId) -> Self {
        match program.edges[edge].op {
            Op::Assume { branch: true, .. } => Self::True,
            Op::Assume { branch: false, .. } => Self::False,
            _ => Self::None,
        }
    }
}

/// A state other than ⊥: the number of decisions of the bound's path that have been taken, or `None` for ⊤ after the
/// path has left the bound to the inside.
pub type State = Option<usize>;

/// The successor along an edge at a choice; `None` for ⊥. `follows` is true if the bound's path takes the edge.
/// Otherwise, the value analysis has no successor along it.
pub fn transfer(side: Side, state: State, branch: Branch, follows: bool) -> Option<State> {
    let inside = match side {
        Side::Lower => Branch::False,
        Side::Upper => Branch::True,
    };
    match state {
        None => Some(None),
        Some(taken) if follows => Some(Some(taken + 1)),
        Some(_) if branch == inside => Some(None),
        Some(_) => None,
    }
}
