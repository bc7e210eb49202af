//! The transfer relations of range reduction (the paper, section 3.2).

use cfa::{EdgeId, Op, Program};

/// Which bound of a range.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Lower,
    Upper,
}

/// The indicator function `B_P` of an edge. True comes before false.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Branch {
    True,
    False,
    None,
}

impl Branch {
    pub fn of(program: &Program, edge: EdgeId) -> Self {
        match program.edges[edge].op {
            Op::Assume { branch: true, .. } => Self::True,
            Op::Assume { branch: false, .. } => Self::False,
            _ => Self::None,
        }
    }
}

/// A state but ⊥: how many decisions of the bound's path have been taken, or ⊤: the bound's path was left to the inside.
pub type State = Option<usize>;

/// The successor along an edge at which there is a choice; nothing for ⊥. `follows` is whether the edge is the one that the
/// bound's path takes: if not, the value analysis has no successor along it.
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
