//! Inputs of runs.

use super::Random;
use cfa::Bv;
use cfa::interp::{InputSource, ObjectSeq, Unknown};

/// Random values below 9, in the order of the inputs. Objects contain zeros.
pub struct RandomInputs(pub Random);

impl RandomInputs {
    /// Equal seeds give equal values.
    pub fn new(seed: u64) -> Self {
        Self(Random::new(seed))
    }
}

impl InputSource for RandomInputs {
    fn unknown(&mut self, _: Unknown, width: u32) -> Bv {
        Bv::new(width, self.0.below(9) as u64)
    }
    fn bytes(&mut self, _: ObjectSeq, _: u64, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}

/// The same value for an input each time, by a seed. So runs are comparable even if they read different other inputs.
pub struct FixedInputs(pub u64);

impl InputSource for FixedInputs {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        match what {
            Unknown::Havoc(input) => Bv::new(width, Random::new(self.0 ^ u64::from(input.0)).below(9) as u64),
            _ => Bv::new(width, 0),
        }
    }
    fn bytes(&mut self, _: ObjectSeq, _: u64, bytes: &mut [u8]) {
        bytes.fill(0);
    }
}
