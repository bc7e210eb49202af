//! The random numbers of the GNU C library.

/// The number of earlier numbers that determine the next one: it is the sum of the oldest one and of another one.
const DEGREE: usize = 31;
/// The distance from the next number to the other one.
const SEPARATION: usize = 3;

/// The generator of `rand` and `random` in the GNU C library, with the state that a program has that does not call
/// `initstate`: an additive feedback generator (Knuth: The Art of Computer Programming, volume 2, section 3.2.2).
#[derive(Clone)]
pub(super) struct LibraryRandom {
    /// The last numbers of the sequence. The oldest one is at `at`.
    last: [u32; DEGREE],
    at: usize,
}

impl LibraryRandom {
    /// Returns the generator after `srand` with this seed. A program starts with the seed 1.
    pub fn new(seed: u32) -> Self {
        let mut last = [seed.max(1); DEGREE];
        for n in 1..DEGREE {
            // The seed and the remainders are signed numbers of 32 bits.
            let value = 16807 * i64::from(last[n - 1] as i32) % 0x7fff_ffff;
            last[n] = (if value < 0 { value + 0x7fff_ffff } else { value }) as u32;
        }
        let mut generator = Self { last, at: 0 };
        // The library starts its sums at the number at `SEPARATION` and drops ten rounds of them.
        generator.last.rotate_left(SEPARATION);
        for _ in 0..10 * DEGREE {
            generator.next();
        }
        generator
    }

    /// Returns the next number, from 0 to `RAND_MAX`.
    pub fn next(&mut self) -> u32 {
        let newer = self.last[(self.at + DEGREE - SEPARATION) % DEGREE];
        self.last[self.at] = self.last[self.at].wrapping_add(newer);
        let sum = self.last[self.at];
        self.at = (self.at + 1) % DEGREE;
        sum >> 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_library() {
        // The first, second and thousandth number of a native run.
        for (seed, numbers) in [
            (0, [1_804_289_383, 846_930_886, 1_143_565_421]),
            (1, [1_804_289_383, 846_930_886, 1_143_565_421]),
            (42, [71_876_166, 708_592_740, 896_784_309]),
            (0x7fff_ffff, [1_065_668_062, 2_142_264_300, 1_698_607_095]),
            (0x8000_0000, [1_336_741_213, 1_210_407_648, 193_932_953]),
            (u32::MAX, [254_925_627, 1_205_188_300, 1_892_540_048]),
        ] {
            let mut generator = LibraryRandom::new(seed);
            let all: Vec<u32> = (0..1000).map(|_| generator.next()).collect();
            assert_eq!([all[0], all[1], all[999]], numbers, "{seed}");
        }
    }
}
