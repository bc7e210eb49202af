//! The claims of a GIA about each edge of the program, for display over its source.

use super::{Gia, Says};
use crate::condition::Condition;
use crate::reduce::{Reducer, reduce};
use crate::restrict::TooLarge;
use cfa::{CallGraph, EdgeId, Program};
use rustc_hash::FxHashSet;

/// The claim about the paths through an edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PathClaim {
    /// All of them reach no target, or there are none.
    Verified,
    /// Some of them are not covered.
    Open,
    /// One of them is a candidate.
    Candidate,
    /// One of them reaches a target.
    Reaches,
}

impl PathClaim {
    /// The name, like [`Says::name`] for the same claims.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verified => "ut",
            Self::Open => "open",
            Self::Candidate => "cand",
            Self::Reaches => "rt",
        }
    }
}

impl Gia {
    /// The claims by edge; `None` for edges of functions that are never called. Fails if the residual program is too
    /// large.
    pub fn told(&self, program: &mut Program) -> Result<Vec<Option<PathClaim>>, TooLarge> {
        let left = |program: &Program, covered: &Condition| -> Result<FxHashSet<EdgeId>, TooLarge> {
            let rest = reduce(program, covered, Reducer::Locations)?;
            Ok(rest.left().into_iter().map(|(_, old)| old).collect())
        };
        let unverified = self.condition(program, Says::Unreachable);
        let unverified = left(program, &unverified)?;
        let on_the_way = |says| match self.has(says) {
            true => left(program, &self.beside(says)),
            false => Ok(FxHashSet::default()),
        };
        let (reaching, candidates) = (on_the_way(Says::Reachable)?, on_the_way(Says::Candidate)?);
        let calls = CallGraph::new(program);
        let told = |edge: EdgeId| {
            if reaching.contains(&edge) {
                PathClaim::Reaches
            } else if candidates.contains(&edge) {
                PathClaim::Candidate
            } else if unverified.contains(&edge) {
                PathClaim::Open
            } else {
                PathClaim::Verified
            }
        };
        let told = |edge: EdgeId| calls.is_reachable(program.func_of(edge)).then(|| told(edge));
        Ok(program.edges.ids().map(told).collect())
    }
}
