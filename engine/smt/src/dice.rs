//! Reproducible random numbers for tests.

/// Returns a generator of numbers below a bound (the upper bits of Knuth's linear congruential generator).
pub fn dice(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed;
    move |bound| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % bound
    }
}
