//! Random inputs for runs of the interpreter.

use cfa::Bv;
use cfa::interp::{InputSource, ObjectSeq, Unknown};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};

/// A source of random inputs. The ranges of the values alternate between runs.
pub struct Random<'a> {
    rng: SmallRng,
    run: u64,
    constants: &'a [u64],
    /// Number of values requested so far.
    pub asked: u64,
}

impl<'a> Random<'a> {
    /// Inputs for run number `run`. `constants` are values that the program may compare with.
    pub fn new(seed: u64, run: u64, constants: &'a [u64]) -> Self {
        Self { rng: SmallRng::seed_from_u64(seed ^ run), run, constants, asked: 0 }
    }

    fn value(&mut self) -> i64 {
        self.asked += 1;
        match self.run % 6 {
            0 => self.rng.random_range(0..3),
            1 => self.rng.random_range(-2..8),
            2 => self.rng.random_range(0..20),
            3 => self.rng.random_range(-100..300),
            4 if !self.constants.is_empty() => {
                let c = self.constants[self.rng.random_range(0..self.constants.len())] as i64;
                c.wrapping_add(self.rng.random_range(-1..2))
            }
            _ => match self.rng.random_range(0..3) {
                0 => self.rng.random_range(0..4),
                1 => self.rng.random_range(-5..50),
                _ => self.rng.random::<i64>(),
            },
        }
    }
}

impl InputSource for Random<'_> {
    fn unknown(&mut self, what: Unknown, width: u32) -> Bv {
        let _ = what;
        Bv::from_i64(64, self.value()).resize(width)
    }

    /// Initial contents of unwritten memory, as integers of four bytes; of one byte in every fourth run.
    fn bytes(&mut self, object: ObjectSeq, offset: u64, bytes: &mut [u8]) {
        let _ = (object, offset);
        let unit = if self.run % 4 == 3 { 1 } else { 4 };
        for element in bytes.chunks_mut(unit) {
            let value = self.value().to_le_bytes();
            element.copy_from_slice(&value[..element.len()]);
        }
    }
}
