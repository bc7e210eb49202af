//! The unknown bytes of an object that the program has not written.

use super::{Content, InputSource, Memory};

/// A set of bytes of an object, by offset.
#[derive(Clone, Debug)]
pub(super) struct Unwritten {
    words: Box<[u64]>,
    count: usize,
}

impl Unwritten {
    /// No bytes, of an object of `size` bytes.
    fn none(size: usize) -> Self {
        Self { words: vec![0; size.div_ceil(64)].into(), count: 0 }
    }
    /// All bytes of an object of `size` bytes.
    pub fn all(size: usize) -> Self {
        let mut all = Self::none(size);
        all.each_word(0, size, |word, mask| *word |= mask);
        all
    }
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// Returns true if one of the `len` bytes from `offset` on is unwritten.
    pub fn has_any(&self, offset: usize, len: usize) -> bool {
        pieces(offset, len).any(|(at, mask)| self.words[at] & mask != 0)
    }
    /// Removes `len` bytes from `offset` on.
    pub fn remove(&mut self, offset: usize, len: usize) {
        self.each_word(offset, len, |word, mask| *word &= !mask);
    }
    /// Returns the unwritten bytes among the `len` bytes from `offset` on, with their offsets from there.
    pub fn part(&self, offset: usize, len: usize) -> Vec<usize> {
        (0..len).filter(|at| self.has_any(offset + at, 1)).collect()
    }
    fn insert(&mut self, offset: usize) {
        self.each_word(offset, 1, |word, mask| *word |= mask);
    }
    fn each_word(&mut self, offset: usize, len: usize, change: impl Fn(&mut u64, u64)) {
        for (at, mask) in pieces(offset, len) {
            let word = &mut self.words[at];
            let before = word.count_ones() as usize;
            change(word, mask);
            self.count = self.count - before + word.count_ones() as usize;
        }
    }
}

/// Returns the words with the bits of `len` bytes from `offset` on: the index of each, and these bits.
fn pieces(offset: usize, len: usize) -> impl Iterator<Item = (usize, u64)> {
    let end = offset + len;
    (offset / 64..end.div_ceil(64)).map(move |at| {
        let (from, to) = (offset.max(64 * at) - 64 * at, end.min(64 * (at + 1)) - 64 * at);
        (at, (u64::MAX >> (64 - (to - from))) << from)
    })
}

impl Content {
    /// Makes bytes of an object of `size` bytes unwritten: those at these offsets from `start`.
    pub(super) fn forget_written(&mut self, size: u64, start: usize, offsets: &[usize], source: &mut dyn InputSource) {
        if let Self::Flat(bytes) = self {
            *self = Self::Partial(std::mem::take(bytes), Unwritten::none(size as usize));
        }
        match self {
            Self::Partial(_, unwritten) => offsets.iter().for_each(|offset| unwritten.insert(start + offset)),
            // Large objects have no record of their unwritten bytes.
            _ => source.read_unwritten(),
        }
    }
}

impl Memory {
    /// Returns true if the object at `addr` has unwritten bytes among the `len` bytes there. If the source does not
    /// observe the reads of the object, it has none.
    pub fn has_unwritten(&self, addr: u64, len: usize) -> bool {
        let object = self.object_at(addr).filter(|o| len > 0 && o.holds(addr, len as u64));
        object.is_some_and(|object| match &object.content {
            Content::Partial(_, unwritten) => unwritten.has_any((addr - object.base) as usize, len),
            Content::Flat(_) | Content::Paged { .. } => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_counted_across_words() {
        let mut bytes = Unwritten::all(130);
        assert_eq!((bytes.count, bytes.has_any(129, 1)), (130, true));
        bytes.remove(1, 128);
        assert_eq!((bytes.count, bytes.part(0, 130)), (2, vec![0, 129]));
        bytes.remove(60, 70);
        bytes.remove(0, 64);
        assert!(bytes.is_empty() && !bytes.has_any(0, 130));
        bytes.insert(64);
        assert_eq!((bytes.part(60, 10), bytes.has_any(65, 65), bytes.has_any(0, 64)), (vec![4], false, false));
    }
}
