//! Detection of infinite runs: if a state recurs and the run took no input in between, it recurs for ever.
//!
//! The detector stores a state and compares it with the following ones. It stores states at exponentially growing
//! distances, so a run of `n` edges stores `O(log n)` states. (Brent: *An improved Monte Carlo factorization
//! algorithm*, BIT 1980, section 2. Brent's algorithm finds every cycle. This one finds only short cycles that do not
//! write to memory.)

use super::State;
use crate::EdgeId;
use crate::bv::Bv;

/// The first stored state is the one after this many edges. Each further one is twice as far from the start.
const FIRST_STORED: u64 = 1 << 16;
/// The number of following states that are compared with a stored state: the length of the longest cycle found.
const LONGEST_CYCLE: u64 = 1 << 12;

/// Detects a recurring state.
#[derive(Clone)]
pub(super) struct CycleDetector {
    stored: Option<StoredState>,
    /// If no state is stored: the step at which one is stored. Otherwise: the step at which it is dropped.
    next: u64,
}

/// A stored state.
#[derive(Clone)]
struct StoredState {
    edge: EdgeId,
    /// The number of steps before the state.
    at: u64,
    /// The values of [`Memory`](super::memory::Memory)'s change counter and of the input counter.
    changes: u64,
    inputs: u64,
    /// The registers of at most 64 bits, and those of more.
    words: Vec<u64>,
    wides: Vec<Bv>,
    /// The call of each frame.
    frames: Vec<u32>,
}

impl Default for CycleDetector {
    fn default() -> Self {
        Self { stored: None, next: FIRST_STORED }
    }
}

impl CycleDetector {
    /// The step at which [`observe`](Self::observe) must be called next. 0 if it must be called at every step.
    pub fn next_step(&self) -> u64 {
        if self.stored.is_some() { 0 } else { self.next }
    }

    /// Compares the state after `edge` with the stored state. Returns true if they are equal, so that the run never
    /// ends. Also stores or drops a state if it is time.
    pub fn observe(&mut self, state: &State<'_>, edge: EdgeId) -> bool {
        if let Some(stored) = &self.stored {
            if stored.equals(state, edge) {
                return true;
            }
            if state.steps >= self.next {
                *self = Self { next: 2 * stored.at, stored: None };
            }
        } else if state.steps >= self.next {
            let stored = StoredState {
                edge,
                at: state.steps,
                changes: state.memory.changes,
                inputs: state.inputs_taken,
                words: state.words.clone(),
                wides: state.wides.clone(),
                frames: state.frames.iter().map(|frame| frame.call).collect(),
            };
            *self = Self { next: state.steps + LONGEST_CYCLE, stored: Some(stored) };
        }
        false
    }
}

impl StoredState {
    fn equals(&self, state: &State<'_>, edge: EdgeId) -> bool {
        self.edge == edge
            && self.changes == state.memory.changes
            && self.inputs == state.inputs_taken
            && self.words == state.words
            && self.wides == state.wides
            && self.frames.iter().copied().eq(state.frames.iter().map(|frame| frame.call))
    }
}
