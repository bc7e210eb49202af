//! Hashes of 128 bits, by which the exploration of interleavings recognises visited states.

use super::{Content, Object};

/// A hash of a sequence of words. `FxHasher` is too weak: states that differ in few bits must not collide.
pub(in crate::interp) struct Digest([u64; 2]);

impl Digest {
    pub fn new() -> Self {
        Self([0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f])
    }
    #[inline]
    pub fn word(&mut self, word: u64) {
        for half in &mut self.0 {
            let mut x = word ^ *half;
            x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            *half = half.rotate_left(17) ^ (x ^ x >> 31);
        }
    }
    pub fn words(&mut self, words: &[u64]) {
        self.word(words.len() as u64);
        words.iter().for_each(|&word| self.word(word));
    }
    fn content(&mut self, content: &Content) {
        content.visit_bytes(|at, bytes| {
            self.word(at);
            for chunk in bytes.chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                self.word(u64::from_le_bytes(word));
            }
        });
    }
    pub fn finish(self) -> [u64; 2] {
        self.0
    }
}

impl Object {
    /// A hash of the content and of its shadow.
    pub(in crate::interp) fn digest(&self) -> [u64; 2] {
        if let Some(digest) = self.digest.get() {
            return digest;
        }
        let mut digest = Digest::new();
        digest.content(&self.content);
        if let Some(shadow) = &self.shadow {
            digest.content(shadow);
        }
        let digest = digest.finish();
        self.digest.set(Some(digest));
        digest
    }
}
