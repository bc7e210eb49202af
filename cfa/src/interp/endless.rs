//! Detection of infinite runs: if a state recurs and the run took no input in between, it recurs for ever.
//!
//! The detector stores a state and compares it with the following ones. It stores states at exponentially growing
//! distances, so a run of `n` edges stores `O(log n)` states. (Brent: *An improved Monte Carlo factorization
//! algorithm*, BIT 1980, section 2. Brent's algorithm finds every cycle. This one finds only short cycles that do not
//! write to memory.)

use super::State;
use crate::EdgeId;
use crate::bv::Bv;

/// The first stored state is the one after this many edges. Each further one is twice as far.
const FIRST: u64 = 1 << 16;
/// The number of following states that are compared with a stored state: the length of the longest cycle found.
const LONGEST: u64 = 1 << 12;

/// Detects a recurring state.
#[derive(Clone)]
pub(super) struct Watch {
    kept: Option<Kept>,
    /// The step at which the next state is stored, or the stored one is dropped.
    next: u64,
}

/// A stored state.
#[derive(Clone)]
struct Kept {
    edge: EdgeId,
    at: u64,
    /// The values of [`Memory`](super::memory::Memory)'s change counter and of the input counter.
    changes: u64,
    inputs: u64,
    words: Vec<u64>,
    wides: Vec<Bv>,
    /// The call of each frame.
    frames: Vec<u32>,
}

impl Default for Watch {
    fn default() -> Self {
        Self { kept: None, next: FIRST }
    }
}

impl Watch {
    /// The step at which the detector must run next. 0 if it must run at every step.
    pub fn next(&self) -> u64 {
        if self.kept.is_some() { 0 } else { self.next }
    }
    /// True if the state after `edge` has occurred before.
    pub fn knows(&mut self, state: &State<'_>, edge: EdgeId) -> bool {
        if let Some(kept) = &self.kept {
            if kept.is(state, edge) {
                return true;
            }
            if state.steps >= self.next {
                *self = Self { next: 2 * kept.at, kept: None };
            }
        } else if state.steps >= self.next {
            let kept = Kept {
                edge,
                at: state.steps,
                changes: state.memory.changes,
                inputs: state.inputs_taken,
                words: state.words.clone(),
                wides: state.wides.clone(),
                frames: state.frames.iter().map(|frame| frame.call).collect(),
            };
            *self = Self { next: state.steps + LONGEST, kept: Some(kept) };
        }
        false
    }
}

impl Kept {
    fn is(&self, state: &State<'_>, edge: EdgeId) -> bool {
        self.edge == edge
            && self.changes == state.memory.changes
            && self.inputs == state.inputs_taken
            && self.words == state.words
            && self.wides == state.wides
            && self.frames.iter().copied().eq(state.frames.iter().map(|frame| frame.call))
    }
}
