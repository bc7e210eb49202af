//! What is left when a run ends.
//!
//! States that wait, and paths that could not be decided, are the frontier of an exploration: every execution that was not
//! explored goes through one of them, or through a place that a reason of the outcome names.

use crate::analysis::Analysis;
use crate::verdict::Reason;
use cfa::{EdgeId, LocId};

/// A place where an exploration has not gone on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Open {
    pub loc: LocId,
    /// The calls that are not over, outermost first.
    pub calls: Vec<EdgeId>,
    /// The edges from the start, where they are kept and paths are not merged.
    pub path: Option<Vec<EdgeId>>,
    /// Why it was not gone on, if not for want of time.
    pub reason: Option<Reason>,
}

/// The frontier of one exploration.
#[derive(Clone, Debug)]
pub struct Frontier {
    pub analysis: Analysis,
    pub open: Vec<Open>,
}
