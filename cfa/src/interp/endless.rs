//! Runs that go on for ever: a state that comes again, with nothing asked for in between, comes again and again.
//!
//! States are compared with one that was kept, for a while after it was kept, which is done ever more rarely: it costs a run of `n` edges
//! `O(log n)` looks. (Brent: *An improved Monte Carlo factorization algorithm*, BIT 1980, section 2; his finds every cycle, this one
//! those of few edges, which do not write to memory.)

use super::State;
use crate::EdgeId;
use crate::bv::Bv;

/// The first state that is kept is that after so many edges, the next after twice as many.
const FIRST: u64 = 1 << 16;
/// For so many edges a state is compared with those that follow.
const LONGEST: u64 = 1 << 12;

/// Looks whether a state comes again.
pub(super) struct Watch {
    kept: Option<Kept>,
    /// When another state is kept, or this one is given up, in edges.
    next: u64,
}

/// A state.
struct Kept {
    edge: EdgeId,
    at: u64,
    /// How often memory had changed, and inputs had been asked for.
    changes: u64,
    inputs: u64,
    words: Vec<u64>,
    wides: Vec<Bv>,
    /// Of each frame, the call.
    frames: Vec<u32>,
}

impl Default for Watch {
    fn default() -> Self {
        Self { kept: None, next: FIRST }
    }
}

impl Watch {
    /// The number of edges at which to look again, if it is not at each.
    pub fn next(&self) -> u64 {
        if self.kept.is_some() { 0 } else { self.next }
    }
    /// Whether the state behind `edge` is one that was there before.
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
