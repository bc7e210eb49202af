//! Queries of the memory that do not change it.

use super::{Content, Memory, Object, PAGE, word};

impl Memory {
    /// The `len` bytes at `addr`, for an observer. `None` if a read would be a fault or the run has not touched the
    /// bytes yet.
    pub fn peek(&self, addr: u64, len: usize) -> Option<Vec<u8>> {
        let object = &self.objects[self.at_or_below(addr)?];
        if len == 0 || !object.holds(addr, len as u64) {
            return None;
        }
        object.content.peek(addr - object.base, len)
    }
}

impl Content {
    pub(super) fn peek(&self, offset: u64, len: usize) -> Option<Vec<u8>> {
        match self {
            Content::Flat(bytes) | Content::Partial(bytes, _) => Some(bytes[offset as usize..][..len].to_vec()),
            Content::Paged { pages, known } => (offset..offset + len as u64)
                .map(|at| match pages.get(&(at / PAGE)) {
                    Some(page) => Some(page[(at % PAGE) as usize]),
                    None => known.then_some(0),
                })
                .collect(),
        }
    }
}

impl Memory {
    /// True if the number is in the address range of objects.
    pub fn is_address(&self, value: u64) -> bool {
        (self.space.data..self.next).contains(&value)
    }
}

impl Content {
    /// Calls `visit` with the parts that were accessed, in the order of their offsets.
    pub(super) fn visit_bytes(&self, mut visit: impl FnMut(u64, &[u8])) {
        match self {
            Content::Flat(bytes) | Content::Partial(bytes, _) => visit(0, bytes),
            Content::Paged { pages, .. } => {
                let mut pages: Vec<_> = pages.iter().collect();
                pages.sort_unstable_by_key(|(number, _)| **number);
                pages.into_iter().for_each(|(number, page)| visit(number * PAGE, page));
            }
        }
    }
}

impl Object {
    /// Calls `visit` with the words of `len` bytes at all offsets that the run has touched. All offsets count, because
    /// C may pack structs.
    pub(in crate::interp) fn words(&self, len: u32, mut visit: impl FnMut(u64)) {
        let len = len as usize;
        let mut all = |bytes: &[u8]| bytes.windows(len).for_each(|bytes| visit(word(bytes)));
        match &self.content {
            Content::Flat(bytes) | Content::Partial(bytes, _) => all(bytes),
            Content::Paged { pages, .. } => {
                for (number, page) in pages {
                    all(page);
                    if let Some(next) = pages.get(&(number + 1)) {
                        let (end, start) = (&page[page.len() - (len - 1)..], &next[..(len - 1).min(next.len())]);
                        all(&[end, start].concat());
                    }
                }
            }
        }
    }
}
