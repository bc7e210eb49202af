//! What analyses tell each other.
//!
//! Each publishes what it has learned when its turn is over, and takes what the others did when its next one begins. Nobody
//! knows who is on the other side, and nothing here has to be believed: what is tracked is only a matter of effort, and
//! candidates for invariants are checked.

use crate::analysis::Analysis;
use crate::cpa::symbolic::{Loops, SymbolicExecution};
use crate::cpa::tracking::{Item, Tracking};
use rustc_hash::FxHashMap;

/// Everything that was published.
#[derive(Default)]
pub struct Exchange {
    /// What refinements found necessary to track, by the analysis that did.
    precisions: FxHashMap<Option<Analysis>, Vec<Item>>,
    /// Values seen at loop heads, and conditions that may be invariants.
    observed: Option<Loops>,
}

impl Exchange {
    /// The same for everybody, also who published it.
    pub fn for_all(mut self) -> Self {
        let items = self.precisions.into_values().flatten().collect();
        self.precisions = FxHashMap::from_iter([(None, items)]);
        self
    }

    /// The values that an exploration has seen at loop heads.
    pub fn publish_values(&mut self, cpa: &SymbolicExecution<'_>) {
        match &mut self.observed {
            Some(observed) => observed.join(&cpa.loops),
            None => self.observed = Some(cpa.loops.clone()),
        }
    }

    /// What `analysis` tracks: values and constraints for others to track, and predicates as candidates for invariants.
    pub fn publish_precision(&mut self, analysis: Analysis, cpa: &Tracking<'_>) {
        self.precisions.insert(Some(analysis), cpa.precision.items());
        if let Some(observed) = &mut self.observed {
            cpa.suggest_invariants(observed);
        }
    }

    /// `analysis` tracks what others found necessary.
    pub fn take_precision(&self, analysis: Analysis, cpa: &mut Tracking<'_>) {
        for (_, items) in self.precisions.iter().filter(|(by, _)| **by != Some(analysis)) {
            cpa.precision.add_everywhere(items.iter().copied());
        }
    }

    /// Values seen and conditions suggested, for proofs by invariants.
    pub fn take_observations(&self, loops: &mut Loops) {
        if let Some(observed) = &self.observed {
            loops.join(observed);
        }
    }
}
