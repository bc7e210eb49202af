//! The shadow content of objects, which [`Op::Shadow`](crate::Op::Shadow) reads and writes. It is created on the first
//! access.

use super::{Content, FLAT, Memory, Stop};
use rustc_hash::FxHashMap;

impl Memory {
    /// Swaps content and shadow of the objects with these bytes. Returns the indices of the objects.
    pub fn exchange_shadows(&mut self, places: [(u64, u64); 2]) -> Result<[Option<usize>; 2], Stop> {
        let mut found = [None; 2];
        for (i, (addr, len)) in places.into_iter().enumerate().filter(|(_, (_, len))| *len > 0) {
            let index = self.locate(addr, len)?;
            if found[0] != Some(index) {
                found[i] = Some(index);
            }
        }
        for index in found.into_iter().flatten() {
            if self.objects[index].shadow.is_none() {
                let size = self.objects[index].size;
                let content = match size <= FLAT {
                    true => {
                        self.charge(size)?;
                        Content::Flat(std::iter::repeat_n(0, size as usize).collect())
                    }
                    false => Content::Paged { pages: FxHashMap::default(), known: true },
                };
                self.objects[index].shadow = Some(Box::new(content));
            }
        }
        self.restore_shadows(found);
        Ok(found)
    }
    /// Undoes [`exchange_shadows`](Self::exchange_shadows).
    pub fn restore_shadows(&mut self, exchanged: [Option<usize>; 2]) {
        self.changes += 1;
        for index in exchanged.into_iter().flatten() {
            let object = &mut self.objects[index];
            let shadow = object.shadow.as_deref_mut().expect("made before they are exchanged");
            std::mem::swap(&mut object.content, shadow);
            object.digest.set(None);
        }
    }

    /// The shadow of the `len` bytes at `addr`, for an observer; see [`peek`](Self::peek).
    pub fn peek_shadow(&self, addr: u64, len: usize) -> Option<Vec<u8>> {
        let object = self.object_at(addr).filter(|o| len > 0 && o.holds(addr, len as u64))?;
        match &object.shadow {
            Some(shadow) => shadow.peek(addr - object.base, len),
            None => Some(vec![0; len]),
        }
    }
}
